// A scheduler with real worker processes on fake devices, and the answers of its jobs.
#pragma once

#include "runner/service/scheduler.h"
#include "tests/runner/tasks.h"

#include <boost/asio/io_context.hpp>

namespace warpwright::runner::testing {

using model::Outcome;

inline const std::string kFakeWorker = WARPWRIGHT_TEST_DIR "/runner_fake_worker";
inline const std::string kRunner = WARPWRIGHT_BINARY_DIR "/warpwright-runner";

inline FoundDevice device(const std::string &name, const std::string &gpu = "",
                          const std::string &mode = "") {
  FoundDevice found;
  found.name = name;
  found.info.kind = gpu.empty() ? "cpu" : "cuda";
  found.info.name = gpu.empty() ? "CPU" : gpu;
  if (!gpu.empty())
    found.info.compute_capability = "9.0";
  found.worker = {
      .name = name, .command = {kFakeWorker}, .environment = {"WARPWRIGHT_FAKE_WORKER=" + mode}};
  return found;
}

struct Told final : Observer {
  std::map<CompiledAhead, int> ahead;
  std::map<std::string, int> starts;
  void compiled_ahead(CompiledAhead result) override { ++ahead[result]; }
  void worker_started(const std::string &device, bool) override { ++starts[device]; }
};

/// A scheduler, its loop, and the answers of its jobs in the order of their coming.
struct Bench {
  using MakePool = std::function<std::unique_ptr<CompileAhead>(boost::asio::any_io_executor)>;
  explicit Bench(std::vector<FoundDevice> devices, const MakePool &pool = {})
      : scheduler(loop.get_executor(),
                  {.devices = std::move(devices),
                   .notes = {},
                   .trace_command = {kRunner, "enclose", "trace"}},
                  pool ? pool(loop.get_executor()) : nullptr, &told) {}
  ~Bench() { scheduler.stop(); }

  Result<std::int64_t> add(const std::string &kernel, const std::string &selector,
                           const std::string &client = "a",
                           std::function<void(const std::string &)> on_activity = {}) {
    Task task = square_task(4096);
    task.reference = plan_of("reference", reference, {"x", "y"});
    return add(task, plan_of("candidate", kernel, {"x", "y"}), selector, client, on_activity);
  }
  Result<std::int64_t> add(const Task &task, const Plan &plan, const std::string &selector,
                           const std::string &client,
                           std::function<void(const std::string &)> on_activity) {
    QueuedJob job;
    const std::int64_t id = job.id = ++last;
    job.client = client;
    job.owner = owner;
    job.task_hash = job.code_hash = task_hash;
    job.options.device = selector;
    job.options.timeout = std::chrono::milliseconds(60'000);
    job.options.measure_budget = std::chrono::milliseconds(50);
    job.options.best_known_speedup = best_known;
    job.options.confirmed_speedup = confirmed;
    job.options.hidden_sizes = hidden_sizes;
    job.request = {{"task", model::to_json(task)},
                   {"plan", model::to_json(plan)},
                   {"options", model::to_json(job.options)}};
    job.on_stage = [on_activity](const std::string &, const std::string &activity) {
      if (on_activity)
        on_activity(activity);
    };
    job.done = [this, id](const rpc::Outcome &outcome) {
      order.push_back(id);
      if (outcome) {
        auto verdict = model::verdict_from_json(*outcome);
        REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
        verdicts.emplace(id, std::move(*verdict));
      } else {
        errors[id] = outcome.error().message;
      }
    };
    if (auto taken = scheduler.submit(std::move(job)); !taken)
      return std::unexpected(taken.error());
    return id;
  }
  void run_until(const std::function<bool()> &over) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!over() && std::chrono::steady_clock::now() < end)
      loop.run_one_for(std::chrono::seconds(1));
    REQUIRE(over());
  }
  void run_all() {
    run_until([&] { return order.size() == static_cast<std::size_t>(last); });
  }

  boost::asio::io_context loop;
  Told told;
  std::string reference = "square", task_hash, owner;
  std::optional<double> best_known, confirmed;
  bool hidden_sizes = false;
  std::int64_t last = 0;
  std::vector<std::int64_t> order;
  std::map<std::int64_t, model::Verdict> verdicts;
  std::map<std::int64_t, std::string> errors;
  Scheduler scheduler;
};

} // namespace warpwright::runner::testing
