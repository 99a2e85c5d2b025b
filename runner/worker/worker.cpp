// Worker process with two threads. The calling thread owns the device and runs one job after the
// other; torch requires this thread if the caller is a Python interpreter. Another thread reads and
// writes JSON-RPC, so that stages are sent while a job runs, and the end of stdin ends the process
// at once.
#include "runner/worker/worker.h"
#include "runner/device/torch_host.h"
#include "runner/verify/bound_plan.h"
#include "runner/verify/checker.h"
#include "runner/judge/verifier.h"
#include "support/model/json.h"
#include "support/rpc/connection.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <future>
#include <iostream>
#include <thread>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using rpc::Json;

const char *side_name(Side side) {
  return side == Side::Reference ? "reference" : side == Side::Candidate ? "candidate" : "";
}

using MakeDevice = std::function<Result<std::unique_ptr<Device>>()>;

bool shares_device() {
  const char *shared = std::getenv(kSharedVariable);
  return shared && *shared;
}

/// Whether more memory could improve this verdict. A verdict may be complete although an allocation
/// failed.
bool is_incomplete(const model::Verdict &verdict) {
  return verdict.outcome != model::Outcome::Verified ||
         std::ranges::any_of(verdict.baselines, [](const model::Baseline &baseline) {
           return !baseline.missing.empty();
         });
}

class Worker;
Worker *serving = nullptr; // this process's worker, while it runs

class Worker {
public:
  /// @param entry its descriptors are closed by the worker
  int run(WorkerEntry entry, const MakeDevice &make) {
    rpc::Connection::Handlers handlers;
    handlers.on_request = [this](const std::string &method, Json params, const Json &,
                                 rpc::Responder respond) {
      on_request(method, std::move(params), std::move(respond));
    };
    handlers.on_closed = [](const std::string &) {
      std::_Exit(0);
    }; // do not wait for a job that may still hold the device
    connection_ = rpc::Connection::make(
        rpc::make_descriptor_stream(loop_.get_executor(), entry.protocol_in, entry.protocol_out),
        std::move(handlers));
    connection_->start();
    const std::jthread messages([this] { loop_.run(); });
    serving = this;
    if (auto made = make_device(entry, make); !made) {
      std::cerr << describe(made.error())
                << (entry.isolation ? " (in isolation; WARPWRIGHT_ISOLATION=off tries without)"
                                    : "")
                << std::endl;
      std::_Exit(2);
    }
    const auto work = boost::asio::make_work_guard(jobs_);
    jobs_.run(); // returns never: a handler ends the process
    return 0;
  }

  void take_turn() {
    if (!shares_)
      return;
    const auto asked = std::chrono::steady_clock::now();
    std::promise<void> taken;
    boost::asio::post(loop_, [&] {
      connection_->request(kTakeTurn, nullptr, [&](const rpc::Outcome &) { taken.set_value(); });
    });
    taken.get_future().wait();
    // Waiting does not count towards the job's time.
    deadline_ += std::chrono::steady_clock::now() - asked;
    if (device_)
      device_->set_deadline(deadline_);
  }

  std::optional<Json> ask(const std::string &method, const Json &params) {
    std::promise<rpc::Outcome> answered;
    boost::asio::post(loop_, [&] {
      connection_->request(method, params, [&](rpc::Outcome outcome) {
        answered.set_value(std::move(outcome));
      });
    });
    rpc::Outcome outcome = answered.get_future().get();
    return outcome ? std::optional(std::move(*outcome)) : std::nullopt;
  }

  void tell(const std::string &method, const Json &params) {
    boost::asio::post(loop_, [this, method, params] { connection_->notify(method, params); });
  }

  void give_turn() {
    if (shares_)
      boost::asio::post(loop_, [this] { connection_->notify(kTurnOver, nullptr); });
  }

private:
  Result<void> make_device(WorkerEntry &entry, const MakeDevice &make) {
    take_turn(); // creating a context would disturb another process's measurement
    auto device = make();
    give_turn();
    if (!device)
      return std::unexpected(device.error());
    device_ = std::move(*device);
    if (entry.isolation) {
      entry.isolation->seal();
      isolation_ = entry.isolation->layers();
      if (const auto missing = entry.isolation->missing(); !missing.empty())
        return fail(missing);
    }
    return {};
  }

  Json device_json() const {
    Json info = model::to_json(device_->info());
    info["isolation"] = to_json(isolation_);
    return info;
  }

  void on_request(const std::string &method, Json params, rpc::Responder respond) {
    if (method != "info" && method != "verify")
      return respond(std::unexpected(
          rpc::RpcError{rpc::kMethodNotFound, "a worker does not know " + method, {}}));
    boost::asio::post(jobs_, [this, is_job = method == "verify", params = std::move(params),
                              respond = std::move(respond)] {
      auto outcome =
          std::make_shared<rpc::Outcome>(is_job ? run_job(params) : rpc::Outcome(device_json()));
      boost::asio::post(loop_, [this, respond, outcome] {
        respond(std::move(*outcome));
        if (device_lost_)
          leave_when_written();
      });
    });
  }

  /// On the job thread. Exceptions of third-party code are caught here and reported with their
  /// text.
  rpc::Outcome run_job(const Json &params) {
    try {
      auto task = model::task_from_json(params.value("task", Json::object()));
      if (!task)
        return invalid(task.error());
      auto plan = model::plan_from_json(params.value("plan", Json::object()));
      if (!plan)
        return invalid(plan.error());
      auto options = model::verify_options_from_json(params.value("options", Json::object()));
      if (!options)
        return invalid(options.error());
      deadline_ = std::chrono::steady_clock::now() + options->timeout;
      if (shares_) {
        send_stage("compiling", "compiling the candidate", Side::Candidate);
        compile_ahead(*device_, *plan);
        send_stage("compiling", "compiling the reference", Side::Reference);
        compile_ahead(*device_, task->reference);
        compile_checker_ahead(*device_);
        send_stage("compiling", "done", Side::Nobody);
      }
      take_turn();
      device_->start_job();
      if (TorchHost *torch = device_->torch())
        torch->start_job();
      device_->set_deadline(deadline_);
      const StageSink sink = [this](const std::string &stage, const std::string &activity,
                                    Side running) { send_stage(stage, activity, running); };
      const VerifyResult result = verify(*device_, *task, *plan, *options, sink);
      device_lost_ = result.device_lost;
      const bool short_of_memory = device_->ran_out_of_memory() && is_incomplete(result.verdict);
      if (TorchHost *torch = device_->torch(); torch && shares_ && !device_lost_)
        torch->start_job(); // frees cached device memory, which other processes may need
      return Json{{"verdict", model::to_json(result.verdict)},
                  {"device_lost", result.device_lost},
                  {"out_of_memory", short_of_memory}};
    } catch (const std::exception &error) {
      return std::unexpected(rpc::RpcError{
          rpc::kInternalError, std::string("the worker failed: ") + error.what(), {}});
    }
  }

  static rpc::Outcome invalid(const Error &error) {
    return std::unexpected(rpc::RpcError{rpc::kInvalidParams, describe(error), {}});
  }

  /// Returns when the message has left this process, so that the service has it even if the job
  /// then kills the process.
  void send_stage(const std::string &stage, const std::string &activity, Side running) {
    std::promise<void> written;
    boost::asio::post(loop_, [&] {
      connection_->notify(
          "stage", {{"stage", stage}, {"activity", activity}, {"running", side_name(running)}});
      wait_until_written([&] { written.set_value(); });
    });
    written.get_future().wait();
  }

  template <class Then>
  void wait_until_written(Then then) {
    if (connection_->pending_bytes() == 0)
      return then();
    boost::asio::post(loop_, [this, then] { wait_until_written(then); });
  }

  void leave_when_written() {
    wait_until_written([] { std::_Exit(kExitDeviceLost); }); // destroying a lost device may hang
  }

  /// for messages, on their own thread; for jobs, on the calling thread
  boost::asio::io_context loop_, jobs_;
  const bool shares_ = shares_device();
  std::unique_ptr<Device> device_;
  std::vector<IsolationLayer> isolation_; ///< part of the `info` reply
  std::chrono::steady_clock::time_point deadline_;
  std::shared_ptr<rpc::Connection> connection_;
  /// Written on the job thread before it posts the answer, read after that.
  bool device_lost_ = false;
};

} // namespace

Result<WorkerEntry> enter_worker(const std::optional<Sandbox> &sandbox) {
  if (sandbox)
    return enter_worker([&] { return Isolation::enter(*sandbox); });
  return enter_worker(nullptr);
}

Result<WorkerEntry> enter_worker(const std::function<Result<Isolation>()> &enter) {
  // Output of a driver or a compiler must not mix with the protocol.
  WorkerEntry entry{fcntl(0, F_DUPFD_CLOEXEC, 3), fcntl(1, F_DUPFD_CLOEXEC, 3), std::nullopt};
  dup2(2, 1);
  if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0)
    dup2(nothing, 0);
  std::signal(SIGPIPE, SIG_IGN);
  if (enter)
    entry.isolation = TRY(enter());
  return entry;
}

int run_worker(WorkerEntry entry, const MakeDevice &make) {
  return Worker().run(std::move(entry), make);
}

std::optional<nlohmann::json> ask_service(const std::string &method, const nlohmann::json &params) {
  return serving ? serving->ask(method, params) : std::nullopt;
}

void tell_service(const std::string &method, const nlohmann::json &params) {
  if (serving)
    serving->tell(method, params);
}

void take_device_turn() {
  if (serving)
    serving->take_turn();
}

void give_device_turn() {
  if (serving)
    serving->give_turn();
}

int run_worker(const MakeDevice &make, const std::optional<Sandbox> &sandbox) {
  auto entry = enter_worker(sandbox);
  if (!entry) {
    std::cerr << describe(entry.error()) << std::endl;
    return 2;
  }
  return run_worker(std::move(*entry), make);
}

} // namespace warpwright::runner
