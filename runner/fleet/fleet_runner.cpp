// States of a job: waiting -> running (requested from the service) -> publishing (its verdict is
// being sent to the broker) -> erased, with its verdict remembered for a while.
#include "runner/fleet/fleet_runner.h"
#include "runner/fleet/line.h"
#include "runner/fleet/messages.h"
#include "runner/fleet/names.h"
#include "runner/fleet/recent.h"
#include "runner/fleet/runner_topology.h"
#include "runner/worker/lost_worker.h"
#include "support/hash.h"
#include "support/log.h"
#include "support/model/json.h"
#include "support/words.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <random>
#include <unistd.h>

namespace warpwright::runner::fleet {
namespace {

constexpr std::chrono::seconds kGiveBackDelay{1};
constexpr std::size_t kFinishedBytes = 32u << 20, kCancelledBytes = 1u << 20;

std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

std::string runner_name() {
  return host_name() + "." + std::to_string(getpid()) + "." +
         std::to_string(std::random_device{}());
}

/// Identity of a job; it includes the client's queue, so that keys of two clients cannot collide.
std::string identity(const Delivery &delivery) {
  return delivery.reply_to + "\n" + delivery.message_id;
}

bool is_job(const Delivery &delivery) {
  return !delivery.message_id.empty() && !progress_queue_of(delivery.reply_to).empty();
}

std::string text_of(const json &document, const char *name) {
  const auto found = document.find(name);
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_of(const json &document, const char *name) {
  const auto found = document.find(name);
  return found != document.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

void set_host(json &device) {
  if (device.is_object() && text_of(device, "host").empty())
    device["host"] = host_name();
}

model::Verdict given_up(const json &request) {
  model::Verdict verdict;
  verdict.outcome = model::Outcome::Crash;
  verdict.message = "given up: this job was delivered " +
                    std::to_string(kJobDeliveries + kSuspectDeliveries) + " times, the last " +
                    std::to_string(kSuspectDeliveries) +
                    " alone on a runner, and each time the runner ended or lost the broker";
  const json options = request.value("options", json::object());
  const std::string wanted = options.is_object() ? text_of(options, "device") : "";
  verdict.device.kind = wanted == kCpuType ? "cpu" : "cuda";
  verdict.device.name = wanted.empty() ? "any device of the fleet" : wanted;
  verdict.date = utc_now();
  if (auto task = model::task_from_json(request.value("task", json())))
    verdict.task_hash = model::hash(*task);
  if (auto plan = model::plan_from_json(request.value("plan", json())))
    verdict.plan_hash = model::hash(*plan);
  verdict.checks.push_back({"runs", false, verdict.message});
  return verdict;
}

struct FinishedJob {
  std::string fingerprint, reply;
};

} // namespace

class FleetRunner::Impl : public std::enable_shared_from_this<Impl> {
public:
  Impl(boost::asio::any_io_executor executor, BrokerAddress address,
       std::function<void(const Error &)> on_failure)
      : executor_(std::move(executor)), address_(std::move(address)),
        on_failure_(std::move(on_failure)) {}
  ~Impl() { service_->close(); }

  void start(std::unique_ptr<rpc::Stream> stream) {
    rpc::Connection::Handlers handlers;
    handlers.on_notification = [weak = weak_from_this()](const std::string &method,
                                                         const json &params) {
      if (const auto self = weak.lock(); self && method == "stage")
        self->on_stage(params);
    };
    service_ = rpc::Connection::make(std::move(stream), std::move(handlers));
    service_->start();
    ask_service("info", nullptr, [](Impl &self, const rpc::Outcome &info) { self.join(info); });
  }

private:
  struct Job {
    std::string key, reply_to, fingerprint;
    std::string type;
    bool suspect = false;
    json request;                        ///< until the job runs
    std::vector<Receipt> receipts;       ///< for all its deliveries
    std::string device;                  ///< device of the service, while the job runs
    std::optional<std::int64_t> running; ///< id of the request to the service
    std::string stage;                   ///< as last reported
    std::optional<std::string> reply;    ///< once it is being sent
  };

  template <class Then>
  std::int64_t ask_service(const std::string &method, json params, Then then) {
    return service_->request(method, std::move(params),
                             [weak = weak_from_this(), then](const rpc::Outcome &outcome) {
                               if (const auto self = weak.lock())
                                 then(*self, outcome);
                             });
  }

  void join(const rpc::Outcome &info) {
    const auto decoded = info ? decode_info(*info) : fail(info.error().message);
    if (!decoded)
      return on_failure_(decoded.error());
    const json names = info->value("names", json::array());
    for (std::size_t i = 0; i < decoded->devices.size() && i < names.size(); ++i)
      if (const std::string type = device_type(decoded->devices[i]); !type.empty())
        devices_.push_back({names[i], type});
    if (devices_.empty())
      return on_failure_(
          {"this machine has no device to offer to a fleet", "Run `warpwright-runner doctor`"});
    RunnerTopology topology = runner_topology(devices_, runner_name());
    sources_ = std::move(topology.sources);
    LineHandlers handlers;
    handlers.on_connected = [this](const auto &) {
      log::info("joined the fleet", {{"broker", address_.place()},
                                     {"devices", static_cast<std::int64_t>(devices_.size())}});
    };
    handlers.on_delivery = [this](const Delivery &delivery, Receipt receipt) {
      on_delivery(delivery, receipt);
    };
    handlers.on_lost = [this](const Error &error) { on_lost(error); };
    handlers.on_refused = on_failure_;
    line_ = std::make_unique<BrokerLine>(executor_, address_, std::move(topology.topology),
                                         std::move(handlers));
  }

  /// The broker will deliver all unacknowledged jobs again. Running jobs continue.
  void on_lost(const Error &error) {
    log::warning("the broker is away", {{"broker", address_.place()}, {"reason", describe(error)}});
    for (const std::string &name : std::exchange(waiting_, {}))
      jobs_.erase(name);
    for (auto &[name, job] : jobs_)
      job.receipts.clear();
  }

  void on_delivery(const Delivery &delivery, Receipt receipt) {
    const Source &source = sources_.at(delivery.queue);
    if (source.kind == Source::Kind::Control) {
      line_->settle(receipt, Settlement::Done);
      return on_control(delivery.body);
    }
    const auto request = parse_object(delivery.body);
    if (!is_job(delivery) || !request) { // there is no client to answer
      log::warning("dropped a message that is not a job", {{"queue", delivery.queue}});
      return line_->settle(receipt, Settlement::Done);
    }
    take(delivery, receipt, source, *request);
  }

  void take(const Delivery &delivery, Receipt receipt, const Source &source, const json &request) {
    const std::string name = identity(delivery);
    const std::string fingerprint =
        sha256_hex(dump(request.value("task", json())) + dump(request.value("plan", json())));
    if (const auto known = jobs_.find(name);
        known != jobs_.end() && known->second.fingerprint == fingerprint) {
      known->second.receipts.push_back(receipt);
      return;
    }
    if (const std::int64_t *cancelled = cancelled_.find(name);
        cancelled && number_of(request, "sent") <= *cancelled)
      return line_->settle(receipt, Settlement::Done); // its client has already been answered
    Job job{.key = delivery.message_id, .reply_to = delivery.reply_to, .fingerprint = fingerprint};
    job.type = source.type;
    job.suspect = source.kind == Source::Kind::Suspects;
    job.request = request;
    job.receipts = {receipt};
    const auto [entry, is_new] = jobs_.try_emplace(name, std::move(job));
    if (!is_new) // the refused delivery has its own receipt, and the other job settles only its own
      return refuse_clash(delivery, receipt);
    if (const FinishedJob *done = finished_.find(name); done && done->fingerprint == fingerprint)
      return publish(name, entry->second, done->reply);
    if (source.kind == Source::Kind::Dead) {
      log::warning("given up", {{"job", delivery.message_id}});
      return publish(name, entry->second, encode_reply(given_up(request)));
    }
    waiting_.push_back(name);
    pump();
  }

  void refuse_clash(const Delivery &delivery, Receipt receipt) {
    Message message = reply_message(delivery.reply_to, delivery.message_id);
    message.body = encode_reply(fail("the key " + delivery.message_id + " names another job",
                                     "Give each job its own key"));
    line_->publish(std::move(message),
                   [this, receipt](Published) { line_->settle(receipt, Settlement::Done); });
  }

  /// Starts all waiting jobs. A suspect starts only when nothing else runs, and then runs alone.
  void pump() {
    const auto running = [](const auto &entry) { return entry.second.running.has_value(); };
    const auto suspect = [this](const std::string &name) { return jobs_.at(name).suspect; };
    for (;;) {
      const bool busy = std::ranges::any_of(jobs_, running);
      if (busy && std::ranges::any_of(jobs_, [&](const auto &entry) {
            return running(entry) && entry.second.suspect;
          }))
        return;
      auto next = std::ranges::find_if(waiting_, suspect);
      if (next != waiting_.end() && busy)
        return;
      if (next == waiting_.end())
        next = waiting_.begin();
      if (next == waiting_.end())
        return;
      const std::string name = *next;
      waiting_.erase(next);
      run(name, jobs_.at(name));
    }
  }

  void run(const std::string &name, Job &job) {
    job.device = choose_device(job.type);
    json options = job.request.value("options", json::object());
    if (options.is_object()) {
      options["device"] = job.device;
      options.erase("job"); // this class recognizes copies, so the service needs no key
    }
    json params = {{"task", job.request.value("task", json())},
                   {"plan", job.request.value("plan", json())},
                   {"options", std::move(options)}};
    job.request = nullptr;
    job.running = 0; // set first, because the answer may come at once
    const std::int64_t id =
        ask_service("verify", std::move(params), [name](Impl &self, const rpc::Outcome &outcome) {
          self.on_outcome(name, outcome);
        });
    if (const auto found = jobs_.find(name); found != jobs_.end() && found->second.running)
      found->second.running = id;
  }

  /// The device of that type with the fewest running jobs of the fleet. For "any" and "cuda", a
  /// device of the best type.
  std::string choose_device(const std::string &type) const {
    const bool any = type == kAnyType || type == kGpuType;
    const std::string wanted = any ? devices_.front().type : type;
    const auto load = [&](const std::string &device) {
      return std::ranges::count_if(jobs_, [&](const auto &entry) {
        return entry.second.running && entry.second.device == device;
      });
    };
    const FleetDevice *best = nullptr;
    for (const FleetDevice &device : devices_)
      if (device.type == wanted && (!best || load(device.name) < load(best->name)))
        best = &device;
    return best ? best->name : devices_.front().name;
  }

  void on_outcome(const std::string &name, const rpc::Outcome &outcome) {
    const auto found = jobs_.find(name);
    if (found == jobs_.end())
      return;
    Job &job = found->second;
    job.running.reset();
    if (outcome) {
      json verdict = *outcome;
      if (verdict.contains("device"))
        set_host(verdict["device"]);
      publish(name, job, dump({{"verdict", std::move(verdict)}}));
    } else if (outcome.error().code == rpc::kRequestCancelled) {
      settle(job, Settlement::Done); // its client has already been answered
      jobs_.erase(found);
    } else if (outcome.error().code == rpc::kInternalError &&
               (!job.suspect || is_not_started(outcome.error()))) {
      // The cause is this host or temporary. A suspect's error may be caused by the suspect, so it
      // is returned only if its worker did not start.
      log::warning("gives a job back", {{"job", job.key}, {"reason", outcome.error().message}});
      give_back(name);
    } else
      publish(name, job,
              encode_reply(
                  fail("the runner on " + host_name() + " refused: " + outcome.error().message)));
    pump();
  }

  /// Returns the job to the broker after a delay, in which runners without this problem can
  /// proceed.
  void give_back(const std::string &name) {
    auto timer = std::make_shared<boost::asio::steady_timer>(executor_, kGiveBackDelay);
    timer->async_wait([weak = weak_from_this(), name, timer](boost::system::error_code) {
      if (const auto self = weak.lock())
        if (const auto job = self->jobs_.extract(name))
          self->settle(job.mapped(), Settlement::Again);
    });
  }

  static Message reply_message(const std::string &reply_to, const std::string &key) {
    return {.routing_key = reply_to, .message_id = key, .persistent = true, .mandatory = true};
  }

  void publish(const std::string &name, Job &job, std::string reply) {
    job.reply = std::move(reply);
    Message message = reply_message(job.reply_to, job.key);
    message.body = *job.reply;
    line_->publish(std::move(message), [this, name](Published outcome) {
      const auto found = jobs_.find(name);
      if (found == jobs_.end())
        return;
      Job &done = found->second;
      if (outcome == Published::Unroutable)
        log::warning("the verdict has no more waiting clients", {{"job", done.key}});
      settle(done, Settlement::Done);
      const std::size_t size = done.reply->size();
      finished_.put(name, {done.fingerprint, std::move(*done.reply)}, size);
      jobs_.erase(found);
    });
  }

  void settle(const Job &job, Settlement settlement) {
    for (const Receipt &receipt : job.receipts)
      line_->settle(receipt, settlement);
  }

  void on_stage(const json &params) {
    const std::string stage = text_of(params, "stage");
    for (auto &[name, job] : jobs_) {
      if (!job.running || *job.running != number_of(params, "id") || job.stage == stage)
        continue;
      job.stage = stage;
      line_->send(
          {.routing_key = progress_queue_of(job.reply_to),
           .body = dump(
               {{"job", job.key}, {"stage", stage}, {"activity", text_of(params, "activity")}})});
    }
  }

  void on_control(const std::string &body) {
    const auto document = parse_object(body);
    if (!document)
      return;
    const std::string reply_to = text_of(*document, "reply_to");
    if (document->contains("who") && reply_to.starts_with(progress_queue("")))
      return describe_to(reply_to, number_of(*document, "who"));
    if (const std::string key = text_of(*document, "cancel"); !key.empty())
      cancel(reply_to + "\n" + key, number_of(*document, "sent"));
  }

  void cancel(const std::string &name, std::int64_t sent) {
    cancelled_.put(name, sent, sizeof sent);
    const auto found = jobs_.find(name);
    if (found == jobs_.end() || found->second.reply)
      return;
    if (found->second.running)
      return service_->cancel(*found->second.running);
    std::erase(waiting_, name);
    settle(found->second, Settlement::Done);
    jobs_.erase(found);
    pump();
  }

  void describe_to(const std::string &queue, std::int64_t number) {
    ask_service("info", nullptr, [queue, number](Impl &self, const rpc::Outcome &info) {
      if (!info)
        return;
      json runner = *info;
      for (json &device : runner["devices"])
        set_host(device);
      for (json &note : runner["notes"])
        if (note.is_string())
          note = host_name() + ": " + note.get<std::string>();
      self.line_->send({.routing_key = queue, .body = dump({{"who", number}, {"runner", runner}})});
    });
  }

  boost::asio::any_io_executor executor_;
  const BrokerAddress address_;
  const std::function<void(const Error &)> on_failure_;
  std::shared_ptr<rpc::Connection> service_;
  std::vector<FleetDevice> devices_; ///< best first
  std::map<std::string, Source> sources_;
  std::map<std::string, Job> jobs_; ///< by identity()
  std::deque<std::string> waiting_;
  Recent<FinishedJob> finished_{kFinishedBytes};
  Recent<std::int64_t> cancelled_{kCancelledBytes}; ///< time at which the cancellation was sent
  std::unique_ptr<BrokerLine> line_;
};

FleetRunner::FleetRunner(boost::asio::any_io_executor executor, BrokerAddress address,
                         std::unique_ptr<rpc::Stream> service,
                         std::function<void(const Error &)> on_failure)
    : impl_(
          std::make_shared<Impl>(std::move(executor), std::move(address), std::move(on_failure))) {
  impl_->start(std::move(service));
}

FleetRunner::~FleetRunner() = default;

} // namespace warpwright::runner::fleet
