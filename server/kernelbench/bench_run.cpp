#include "server/kernelbench/bench_run.h"
#include "server/kernelbench/candidate_run.h"
#include "server/kernelbench/export_run.h"

#include "server/measured_text.h"
#include "support/exclusive.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/model/json.h"
#include "support/model/verdict_text.h"
#include "support/words.h"

#include <algorithm>
#include <future>
#include <map>
#include <thread>

namespace warpwright::server {
namespace {

using Clock = std::chrono::steady_clock;
using State = BenchResult::State;

constexpr std::size_t kTracesAhead = 4;
/// Maximal characters of a variant's moves in a result: networks have thousands of moves.
constexpr std::size_t kMovesText = 600;
/// One in kOneInLong tasks is long; kBetweenLong others start between two long ones.
constexpr std::size_t kOneInLong = 6, kBetweenLong = 2;

std::string source_hash(const BenchTask &task) { return sha256_hex(task.source).substr(0, 16); }

void take_ratios(const model::Verdict &verdict, BenchResult &result) {
  for (const model::Baseline &baseline : verdict.baselines)
    if (!baseline.speedup) {
      result.missing[baseline.name] = baseline.missing;
      if (baseline.wrong)
        result.wrong.insert(baseline.name);
    }
  for (const BaselineRatio &one : measured_baselines(verdict))
    result.ratios[one.name] = {one.speedup.ratio, one.speedup.low, one.speedup.high,
                               one.reference_time.median_ns, one.candidate_time.median_ns};
}

/// The check that marks a verified task without a speedup as degenerate; null: there is none.
const model::Check *degenerate_check(const model::Verdict &verdict) {
  for (const model::Check &check : verdict.checks)
    if (check.name == "the task is not degenerate" && !check.passed)
      return &check;
  return nullptr;
}

std::string common_reason(const TorchOutcome &outcome) {
  if (outcome.variants.empty())
    return "nothing was generated";
  const model::Verdict &last = outcome.variants.back().verdict;
  return std::string(model::name(last.outcome)) + ": " + last.message;
}

void judge(const TorchOutcome &outcome, BenchResult &result) {
  // A candidate of the search that could not be verified again is no result.
  if (outcome.best && (outcome.final_verdict || !outcome.error)) {
    const search::TorchVariant &best = outcome.variants[*outcome.best];
    const model::Verdict &verdict = outcome.final_verdict ? *outcome.final_verdict : best.verdict;
    result.moves = best.proposal.built.plan.moves;
    result.recipe = search::recipe_of(best.proposal);
    if (outcome.unconfirmed.empty())
      return take_verified(verdict, result);
    result.plan_hash = verdict.plan_hash;
    result.device = verdict.device;
    result.state = State::Unmeasured;
    result.reason =
        "right in the search, but not verified and measured again: " + outcome.unconfirmed;
    return;
  }
  if (outcome.error) {
    result.state = outcome.task ? State::Failed : State::Skipped;
    result.reason = describe(*outcome.error);
    return;
  }
  const auto task_fault =
      std::ranges::find_if(outcome.variants, [](const search::TorchVariant &variant) {
        return model::blames_reference(variant.verdict);
      });
  result.state = task_fault == outcome.variants.end() ? State::NoCandidate : State::Skipped;
  result.reason =
      task_fault == outcome.variants.end() ? common_reason(outcome) : task_fault->verdict.message;
}

TriedVariant tried(const search::TorchVariant &variant) {
  const model::Verdict &verdict = variant.verdict;
  TriedVariant result{"", std::string(model::name(verdict.outcome)), "", {}};
  result.moves = joined(variant.proposal.built.plan.moves, "; ");
  if (result.moves.size() > kMovesText)
    result.moves = result.moves.substr(0, kMovesText) + "...";
  if (verdict.outcome != model::Outcome::Verified)
    result.message = verdict.message;
  if (verdict.candidate_time)
    result.candidate_ns = verdict.candidate_time->median_ns;
  return result;
}

std::filesystem::path export_path(const std::filesystem::path &folder, const BenchResult &result) {
  return folder / ("level" + std::to_string(result.level)) /
         (result.id.substr(result.id.find('/') + 1) + ".py");
}

class Run {
public:
  Run(const std::vector<BenchTask> &tasks, runner::BlockingClient &client,
      const model::DeviceInfo &device, ResultsFile &file, const BenchRunOptions &options,
      const BenchRunEvents &events, std::stop_token stop)
      : tasks_(tasks), client_(client), device_(device), options_(options), events_(events),
        stop_(std::move(stop)),
        order_(options.time_limit.count() > 0 ? mixed(tasks) : long_ones_early(mixed(tasks))),
        shared_(Shared{&file, {}, 0, std::nullopt}) {}

  Result<std::vector<BenchResult>> run() {
    take_over_earlier();
    {
      std::vector<std::jthread> workers;
      for (int i = 0; i < std::max(options_.at_once, 1); ++i)
        workers.emplace_back([this] { work(); });
    }
    return shared_.with([](Shared &shared) -> Result<std::vector<BenchResult>> {
      if (shared.failure)
        return std::unexpected(*shared.failure);
      return shared.results;
    });
  }

private:
  using Trace = std::future<Result<runner::TracedModule>>;

  struct Shared {
    ResultsFile *file;
    std::vector<BenchResult> results;
    std::size_t next;
    std::optional<Error> failure;
    std::map<std::string, Trace> traces = {}; ///< by id: started and not yet taken
  };

  /// Mixes small and large tasks of all levels in a fixed order, so that a stopped run covers all of them, and no
  /// device is left with only the long tasks.
  static std::vector<const BenchTask *> mixed(const std::vector<BenchTask> &tasks) {
    std::map<std::string, const BenchTask *> by_hash;
    for (const BenchTask &task : tasks)
      by_hash.emplace(sha256_hex(task.id + task.source), &task);
    std::vector<const BenchTask *> order;
    for (const auto &[hash, task] : by_hash)
      order.push_back(task);
    return order;
  }

  /// Moves the longest texts into the first part, with others between them: whole networks wait minutes for
  /// torch.compile, and would delay the end of a run if they came last.
  static std::vector<const BenchTask *> long_ones_early(std::vector<const BenchTask *> order) {
    std::vector<std::size_t> lengths;
    for (const BenchTask *task : order)
      lengths.push_back(task->source.size());
    std::ranges::sort(lengths, std::greater());
    const std::size_t bound = lengths.empty() ? 0 : lengths[lengths.size() / kOneInLong];
    std::vector<const BenchTask *> long_ones, others, merged;
    for (const BenchTask *task : order)
      (task->source.size() > bound ? long_ones : others).push_back(task);
    for (std::size_t i = 0, j = 0; i < long_ones.size() || j < others.size(); ++i) {
      if (i < long_ones.size())
        merged.push_back(long_ones[i]);
      for (std::size_t k = 0; k < kBetweenLong && j < others.size(); ++k)
        merged.push_back(others[j++]);
    }
    return merged;
  }

  void take_over_earlier() {
    shared_.with([&](Shared &shared) {
      for (const BenchResult &result : shared.file->earlier())
        for (const BenchTask &task : tasks_)
          if (task.id == result.id && source_hash(task) == result.source_hash &&
              result.state != State::Failed)
            shared.results.push_back(result);
    });
  }

  /// The next task without a result; nullptr: none is left, or the run must stop.
  const BenchTask *next_task() {
    const bool late =
        options_.time_limit.count() > 0 && Clock::now() - start_ > options_.time_limit;
    return shared_.with([&](Shared &shared) -> const BenchTask * {
      while (!late && !stop_.stop_requested() && !shared.failure && shared.next < order_.size()) {
        const BenchTask &task = *order_[shared.next++];
        if (!is_done(shared, task))
          return &task;
      }
      return nullptr;
    });
  }

  static bool is_done(const Shared &shared, const BenchTask &task) {
    return std::ranges::find(shared.results, task.id, &BenchResult::id) != shared.results.end();
  }

  /// The trace of a task. It starts those of the next few, since tracing needs no GPU and takes as long as measuring.
  Trace take_trace(const BenchTask &task) {
    return shared_.with([&](Shared &shared) {
      begin_trace(shared, task);
      for (std::size_t i = shared.next; i < std::min(shared.next + kTracesAhead, order_.size());
           ++i)
        if (!is_done(shared, *order_[i]) &&
            (!options_.candidates || options_.candidates->contains(order_[i]->id)))
          begin_trace(shared, *order_[i]);
      Trace trace = std::move(shared.traces.at(task.id));
      shared.traces.erase(task.id);
      return trace;
    });
  }

  void begin_trace(Shared &shared, const BenchTask &task) {
    if (!shared.traces.contains(task.id))
      shared.traces.emplace(task.id, std::async(std::launch::async, [this, &task] {
                              return client_.trace(module_of(task));
                            }));
  }

  void work() {
    while (const BenchTask *task = next_task()) {
      if (events_.on_stage)
        events_.on_stage(task->id, "tracing");
      if (options_.candidates) {
        judge_answer(*task);
        if (stop_.stop_requested())
          return;
        continue;
      }
      const auto start = Clock::now();
      const TorchOutcome outcome = optimize_torch_module(
          task->name, task->id, module_of(*task), take_trace(*task).get(), client_, device_,
          options_.verify, limits_of(*task), events_of(*task), stop_);
      if (stop_.stop_requested())
        return; // the next run repeats the interrupted task
      BenchResult result = bench_result_of(*task, outcome);
      if (const auto exported = judge_export(*task, outcome, result); !exported) {
        result.state = State::ExportFailed;
        result.reason = "its export: " + describe(exported.error());
        result.ratios.clear();
      }
      if (stop_.stop_requested())
        return;
      result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      keep(std::move(result));
    }
  }

  /// True if the result has a plan that the runner has verified, so that it has an export.
  bool has_export(const BenchResult &result) const {
    return result.recipe && (result.state == State::Verified ||
                             (result.state == State::Unmeasured && !options_.limits.measure));
  }

  /// Replaces the figures of a verified plan by those of its export, and keeps the export if its folder is wanted.
  /// On a CPU exports cannot run their kernels, so they are only written.
  Result<void> judge_export(const BenchTask &task, const TorchOutcome &outcome,
                            BenchResult &result) {
    if (!has_export(result))
      return {};
    const auto path = export_path(options_.export_folder, result);
    const std::string plan_name = path.stem().string() + ".wwplan";
    const model::DeviceInfo device = result.device;
    const auto files_of = [&](const model::Verdict &verdict) {
      return export_files(outcome, verdict, device, plan_name, options_.standalone);
    };
    model::Verdict verdict =
        outcome.final_verdict ? *outcome.final_verdict : outcome.variants[*outcome.best].verdict;
    auto files = TRY(files_of(verdict));
    if (device_.kind == "cuda") {
      auto judged = verify_export(outcome.task->task, files, client_, measured_options(), stop_,
                                  events_of(task).on_stage);
      if (!judged) {
        result.state = State::Failed;
        result.reason = describe(judged.error());
        result.ratios.clear();
        return {};
      }
      take_export(*judged, result);
      if (judged->outcome == model::Outcome::Verified)
        files = TRY(files_of(*judged));
    }
    const bool is_kept = !options_.export_folder.empty() && has_export(result);
    return is_kept ? write_export(files, path) : Result<void>{};
  }

  /// Options of a verification whose figures count.
  runner::VerifyOptions measured_options() const {
    runner::VerifyOptions options = options_.verify;
    options.measure = options_.limits.measure && device_.kind == "cuda";
    options.measure_budget = options_.measure_budget;
    options.confirm_large = true;
    if (options.measure)
      options.baselines = options_.baselines;
    return options;
  }

  model::TorchModule module_of(const BenchTask &task) const {
    return {.source = task.source, .mode = options_.mode};
  }

  TorchLimits limits_of(const BenchTask &task) const {
    TorchLimits limits = options_.limits;
    if (const auto known = options_.known.find(source_hash(task)); known != options_.known.end())
      limits.known = known->second;
    return limits;
  }

  /// Judges another system's answer to a task.
  void judge_answer(const BenchTask &task) {
    const auto start = Clock::now();
    const auto found = options_.candidates->find(task.id);
    const bool answered = found != options_.candidates->end();
    BenchResult result =
        judge_candidate(task, answered ? &found->second : nullptr,
                        answered ? take_trace(task).get() : Result<runner::TracedModule>(), client_,
                        measured_options(), stop_, events_of(task).on_stage);
    if (stop_.stop_requested())
      return;
    result.source_hash = source_hash(task);
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    keep(std::move(result));
  }

  TorchEvents events_of(const BenchTask &task) const {
    TorchEvents events;
    if (events_.on_stage)
      events.on_stage = [this, &task](const std::string &stage) {
        events_.on_stage(task.id, stage);
      };
    return events;
  }

  void keep(BenchResult result) {
    shared_.with([&](Shared &shared) {
      if (auto appended = shared.file->append(result); !appended && !shared.failure)
        shared.failure = appended.error();
      shared.results.push_back(std::move(result));
      if (events_.on_result)
        events_.on_result(shared.results.back(), shared.results.size(), tasks_.size());
    });
  }

  const std::vector<BenchTask> &tasks_;
  runner::BlockingClient &client_;
  const model::DeviceInfo &device_;
  const BenchRunOptions &options_;
  const BenchRunEvents &events_;
  std::stop_token stop_;
  const std::vector<const BenchTask *> order_; ///< order of starting
  const Clock::time_point start_ = Clock::now();
  Exclusive<Shared> shared_;
};

} // namespace

void take_verified(const model::Verdict &verdict, BenchResult &result) {
  result.plan_hash = verdict.plan_hash;
  result.device = verdict.device;
  result.library_share = verdict.library_share;
  take_ratios(verdict, result);
  result.state = result.ratios.empty() ? State::Unmeasured : State::Verified;
  if (const model::Check *degenerate = degenerate_check(verdict)) {
    result.state = State::Degenerate;
    result.reason = degenerate->detail;
    result.ratios.clear();
  } else if (result.ratios.empty() || verdict.conditioning) {
    result.reason = verdict.message;
  }
}

BenchResult bench_result_of(const BenchTask &task, const TorchOutcome &outcome) {
  BenchResult result{.id = task.id, .name = task.name, .level = task.level};
  result.source_hash = source_hash(task);
  result.seconds = outcome.seconds;
  for (const search::TorchVariant &variant : outcome.variants) {
    ++result.outcomes[std::string(model::name(variant.verdict.outcome))];
    result.variants.push_back(tried(variant));
  }
  if (!outcome.variants.empty())
    result.date = outcome.variants.back().verdict.date;
  judge(outcome, result);
  return result;
}

Result<std::vector<BenchResult>> run_bench(const std::vector<BenchTask> &tasks,
                                           runner::BlockingClient &client,
                                           const model::DeviceInfo &device, ResultsFile &file,
                                           const BenchRunOptions &options,
                                           const BenchRunEvents &events, std::stop_token stop) {
  return Run(tasks, client, device, file, options, events, std::move(stop)).run();
}

} // namespace warpwright::server
