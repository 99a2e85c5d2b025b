#include "server/optimize/torch_optimizer.h"

#include "generator/planning/module_task.h"
#include "server/optimize/candidate_evaluator.h"

namespace warpwright::server {
namespace {

using Clock = std::chrono::steady_clock;

/// Attempts at the final verification when the device or module fails, since memory may have been short.
constexpr int kFinalAttempts = 2;

/// Factor over the time of copying all inputs and outputs once; a plan within it is not improved further.
constexpr double kNearEnough = 1.06;

double enough_ns(const model::Task &task, const model::DeviceInfo &device) {
  if (!device.copy_bytes_per_s)
    return 0;
  double bytes = 0;
  for (const model::Buffer &buffer : task.buffers) {
    const double size = static_cast<double>(model::elements_of(buffer.shape)) *
                        static_cast<double>(model::size_bytes(buffer.dtype));
    bytes += buffer.direction == model::Direction::InOut ? 2 * size : size;
  }
  return kNearEnough * bytes / *device.copy_bytes_per_s * 1e9;
}

class Search {
public:
  Search(runner::BlockingClient &client, const model::DeviceInfo &device,
         const runner::VerifyOptions &verify, const TorchLimits &limits, const TorchEvents &events,
         std::stop_token stop)
      : client_(client), device_(device), verify_(verify), limits_(limits), events_(events),
        stop_(std::move(stop)) {}

  TorchOutcome run(const std::string &name, const std::string &file,
                   const model::TorchModule &module, Result<runner::TracedModule> traced) {
    TorchOutcome outcome;
    auto task = traced ? make_torch_task(name, file, module, std::move(*traced))
                       : Result<TorchTask>(std::unexpected(traced.error()));
    if (!task) {
      outcome.error = task.error();
      return outcome;
    }
    outcome.task = std::move(*task);
    const auto facts = planning::facts_of(device_);
    if (!facts) {
      outcome.error = facts.error();
      return outcome;
    }
    auto descent = std::make_unique<search::DescentPolicy>(outcome.task->task, outcome.task->graph,
                                                           *facts, limits_.known);
    const search::DescentPolicy &search_policy = *descent;
    std::unique_ptr<search::TorchPolicy> policy = std::move(descent);
    if (limits_.policy && limits_.policy->make)
      policy = limits_.policy->make(*outcome.task, device_, std::move(policy));
    find_best(outcome, *policy, limits_.thorough_search);
    if (outcome.variants.empty() && !outcome.error && !search_policy.why().empty())
      outcome.error = Error{"no plan could be made: " + search_policy.why(), ""};
    const bool found = outcome.best.has_value();
    measure_finally(outcome);
    if (found && !outcome.best && !outcome.error && !stop_.stop_requested()) {
      // Right in a few drawings, wrong in all of them: the search continues with that knowledge.
      find_best(outcome, *policy, true);
      measure_finally(outcome);
    }
    return outcome;
  }

private:
  void tell(const std::string &stage) const {
    if (events_.on_stage)
      events_.on_stage(stage);
  }

  void find_best(TorchOutcome &outcome, search::TorchPolicy &policy, bool thorough) {
    const TorchTask &task = *outcome.task;
    runner::VerifyOptions options = verify_;
    options.measure = limits_.measure && device_.kind == "cuda";
    options.measure_budget = limits_.measure_budget;
    options.confirm_large = false; // measure_finally() confirms instead
    options.thorough = thorough;
    CandidateEvaluator evaluator(client_, options);
    const std::stop_callback forward(stop_, [&] { evaluator.give_up().request_stop(); });
    const search::TorchSearchEvents search_events{
        [&](const model::Task &of, const model::Plan &plan, std::stop_token stop) {
          return evaluator.evaluate(of, plan, stop, events_.on_stage);
        },
        events_.on_variant};
    search::SearchLimits search = limits_.search;
    search.enough_ns = enough_ns(task.task, device_);
    outcome.variants =
        search::search_torch(task.task, policy, search, search_events,
                             evaluator.give_up().get_token(), std::move(outcome.variants));
    if (const auto *best = search::best_torch_variant(outcome.variants))
      outcome.best = static_cast<std::size_t>(best - outcome.variants.data());
    if (auto failure = evaluator.failure())
      outcome.error = std::move(*failure);
  }

  /// Measures the best again in pairs with each baseline, because the search's numbers favor lucky candidates.
  void measure_finally(TorchOutcome &outcome) {
    if (!outcome.best || device_.kind != "cuda")
      return;
    tell(limits_.measure ? "measuring baselines" : "verifying");
    const runner::VerifyOptions options = final_options(verify_, limits_, device_);
    for (int failed = 0; outcome.best && !outcome.final_verdict && failed < kFinalAttempts &&
                         !stop_.stop_requested();) {
      auto verdict =
          client_.verify(outcome.task->task, outcome.variants[*outcome.best].proposal.built.plan,
                         options, stop_, events_.on_stage);
      if (!verdict) {
        outcome.error = verdict.error();
        return;
      }
      if (verdict->outcome == model::Outcome::Verified)
        outcome.final_verdict = std::move(*verdict);
      else if (verdict->outcome != model::Outcome::Unsupported)
        take_back(outcome, *verdict);
      else if (++failed == kFinalAttempts)
        outcome.unconfirmed = verdict->message; // not the plan's fault: it stays the best
    }
  }

  /// Replaces the best's verdict: it passed once and failed now, so the next best is tried.
  static void take_back(TorchOutcome &outcome, const model::Verdict &verdict) {
    outcome.variants[*outcome.best].verdict = verdict;
    outcome.best.reset();
    if (const auto *next = search::best_torch_variant(outcome.variants))
      outcome.best = static_cast<std::size_t>(next - outcome.variants.data());
  }

  runner::BlockingClient &client_;
  const model::DeviceInfo &device_;
  const runner::VerifyOptions &verify_;
  const TorchLimits &limits_;
  const TorchEvents &events_;
  std::stop_token stop_;
};

} // namespace

runner::VerifyOptions final_options(const runner::VerifyOptions &verify, const TorchLimits &limits,
                                    const model::DeviceInfo &device) {
  runner::VerifyOptions options = verify;
  options.measure = limits.measure && device.kind == "cuda";
  options.measure_budget = limits.final_measure_budget;
  if (options.measure)
    options.baselines = limits.baselines;
  return options;
}

TorchOutcome optimize_torch_module(const std::string &name, const std::string &file,
                                   const model::TorchModule &module,
                                   Result<runner::TracedModule> traced,
                                   runner::BlockingClient &client, const model::DeviceInfo &device,
                                   const runner::VerifyOptions &verify, const TorchLimits &limits,
                                   const TorchEvents &events, std::stop_token stop) {
  const auto start = Clock::now();
  TorchOutcome outcome = Search(client, device, verify, limits, events, std::move(stop))
                             .run(name, file, module, std::move(traced));
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

} // namespace warpwright::server
