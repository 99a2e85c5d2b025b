// `eval`: the best of k candidates on a split, for any list of policies, all with the same trials and the same unchanged source.
//
// A task's best starts at 1, its unchanged source, and only what was verified can raise it; failures count as trials. Means are geometric
// over tasks, each task the mean of its repeats. Intervals are bootstraps over tasks; policies are compared task by task. It also
// judges analyses of builtin policies: with scores hidden, against what was measured, beside what guessing would reach.
#include "support/model/json.h"
#include "trainer/policy/analysis_truth.h"
#include "trainer/policy/reward.h"
#include "trainer/policy/walk.h"
#include "trainer/stages/progress.h"
#include "trainer/stages/run_log.h"
#include "trainer/stages/stages.h"
#include "trainer/stages/statistics.h"
#include "trainer/stages/trials.h"
#include "trainer/stages/versions.h"

#include <algorithm>
#include <cmath>
#include <iostream>

namespace warpwright::trainer {
namespace {

constexpr int kPairs = 8; ///< of exemplars a task, to judge analyses
constexpr ExemplarChoice kJudgedExemplars{.buckets = 8, .temperature = 4};

/// Of one policy: per task, per k, the mean log best over repeats; and how often something faster was found.
struct Scores {
  std::string policy;
  std::vector<std::vector<double>> log_best; ///< [k][task]
  std::vector<double> success;               ///< [k], share of tasks and repeats
  double seconds_a_proposal = 0;
  std::int64_t proposals = 0;
};

class Evaluation {
public:
  Evaluation(const Config &config, const Surroundings &surroundings, Workplace &place,
             std::vector<TrainingTask> tasks, RunLog log)
      : config_(config), surroundings_(surroundings), place_(place), tasks_(std::move(tasks)),
        log_(std::move(log)), ks_(config.eval.k) {
    std::ranges::sort(ks_);
  }

  Result<void> run() {
    Progress progress("eval", "sessions",
                      std::int64_t(config_.eval.policies.size() * tasks_.size()) *
                          config_.eval.repeats,
                      surroundings_.quiet);
    std::int64_t sessions = 0;
    for (const std::string &name : config_.eval.policies) {
      Scores scores{name, {}, std::vector<double>(ks_.size()), 0, 0};
      scores.log_best.assign(ks_.size(), std::vector<double>(tasks_.size()));
      for (int repeat = 0; repeat < config_.eval.repeats; ++repeat) {
        const std::uint64_t seed = config_.run.seed * 1000 + std::uint64_t(repeat);
        auto policy = surroundings_.make_policy(config_, name, seed);
        if (!policy)
          return std::unexpected(policy.error());
        for (std::size_t task = 0; task < tasks_.size(); ++task) {
          if (auto done = one_session(**policy, task, seed, scores); !done)
            return done;
          if (surroundings_.stop.stop_requested())
            return {};
          progress.show(++sessions, name);
        }
        if (auto logged = log_account(**policy, name); !logged)
          return logged;
      }
      all_.push_back(std::move(scores));
    }
    return report();
  }

  Result<void> judge_analyses(const std::vector<TaskVersions> &versions);

private:
  Result<void> log_account(const Policy &policy, const std::string &name) {
    nlohmann::json account = policy.account();
    if (account.is_null())
      return {};
    account["policy"] = name;
    return log_.write("policy", std::move(account));
  }

  Result<void> one_session(Policy &policy, std::size_t task, std::uint64_t seed, Scores &scores) {
    std::mt19937_64 random(seed * 7919 + task);
    auto session = TrialSession::open(tasks_[task], place_.environment(), surroundings_.stop);
    if (!session)
      return surroundings_.stop.stop_requested() ? Result<void>()
                                                 : std::unexpected(session.error());
    double best = 1;
    bool found = false;
    int trials = 0;
    for (std::size_t i = 0; i < ks_.size(); ++i) {
      for (; trials < ks_[i] && !session->exhausted(); ++trials) {
        auto trial = session->next(policy, place_.environment(),
                                   {config_.rl.buckets, config_.rl.bucket_temperature}, random,
                                   surroundings_.stop);
        if (!trial)
          return surroundings_.stop.stop_requested() ? Result<void>()
                                                     : std::unexpected(trial.error());
        scores.seconds_a_proposal += trial->proposal.seconds;
        ++scores.proposals;
        if (trial->wasted || trial->measured.outcome != model::Outcome::Verified)
          continue;
        const auto speedup = conservative_speedup(trial->measured);
        found = found || !speedup || *speedup > 1;
        best = std::max(best, score_of(trial->measured).value_or(0));
      }
      scores.log_best[i][task] += std::log(best) / config_.eval.repeats;
      scores.success[i] += double(found) / double(tasks_.size()) / config_.eval.repeats;
    }
    return {};
  }

  Result<void> report() {
    std::vector<double> log_known;
    for (const TrainingTask &task : tasks_)
      log_known.push_back(std::log(std::max(1.0, best_known(task))));
    const double known = geometric_mean(log_known, 1).value;
    std::cout << "policy                k   geometric mean [95%]      success   of best known\n";
    for (const Scores &scores : all_)
      for (std::size_t i = 0; i < ks_.size(); ++i) {
        const Interval mean = geometric_mean(scores.log_best[i], config_.run.seed);
        char line[160];
        std::snprintf(line, sizeof line, "%-18s %4d   %6.3f [%6.3f, %6.3f]   %6.1f%%   %6.1f%%\n",
                      scores.policy.substr(0, 18).c_str(), ks_[i], mean.value, mean.low, mean.high,
                      100 * scores.success[i], 100 * mean.value / known);
        std::cout << line;
        const auto info = place_.environment().device();
        const std::string device = info ? device_key(*info) : "";
        auto logged =
            log_.write("best_of_k",
                       {{"policy", scores.policy},
                        {"k", ks_[i]},
                        {"geomean", mean.value},
                        {"low", mean.low},
                        {"high", mean.high},
                        {"success", scores.success[i]},
                        {"tasks", tasks_.size()},
                        {"device", device},
                        {"best_known_geomean", known},
                        {"share_of_best", mean.value / known},
                        {"seconds_a_proposal", scores.seconds_a_proposal /
                                                   std::max<double>(1, double(scores.proposals))}});
        if (!logged)
          return logged;
      }
    return report_pairs();
  }

  Result<void> report_pairs() {
    for (const Scores &a : all_)
      for (const Scores &b : all_) {
        if (&a == &b)
          continue;
        for (std::size_t i = 0; i < ks_.size(); ++i) {
          const Interval ratio = paired_ratio(a.log_best[i], b.log_best[i], config_.run.seed);
          auto logged = log_.write("paired", {{"policy", a.policy},
                                              {"against", b.policy},
                                              {"k", ks_[i]},
                                              {"ratio", ratio.value},
                                              {"low", ratio.low},
                                              {"high", ratio.high},
                                              {"tasks", tasks_.size()}});
          if (!logged)
            return logged;
        }
      }
    return {};
  }

  /// Of all that is recorded of the task.
  double best_known(const TrainingTask &task) {
    return place_.records().with([&](RecordBook &book) {
      double best = 0;
      if (const TaskRecord *record = book.find(task.id))
        for (const auto &[device, verdicts] : record->verdicts)
          for (const auto &[text, measured] : verdicts)
            best = std::max(best, score_of(measured).value_or(0));
      return best;
    });
  }

  const Config &config_;
  const Surroundings &surroundings_;
  Workplace &place_;
  std::vector<TrainingTask> tasks_;
  RunLog log_;
  std::vector<int> ks_;
  std::vector<Scores> all_;
};

/// Right answers, and what guessing reaches.
struct Judged {
  double right = 0, chance = 0;
  std::map<std::string, int> truths;
  int count = 0;
  void add(bool is_right, double guess, const std::string &truth) {
    right += is_right;
    chance += guess;
    ++truths[truth];
    ++count;
  }
  /// The better of guessing evenly and of always saying the most frequent.
  double best_chance() const {
    int most = 0;
    for (const auto &[truth, times] : truths)
      most = std::max(most, times);
    return std::max(chance, double(most)) / std::max(1, count);
  }
  void write(nlohmann::json &fields, const std::string &name) const {
    fields[name + "_count"] = count;
    if (count == 0)
      return;
    fields[name + "_accuracy"] = right / count;
    fields[name + "_chance"] = best_chance();
  }
};

Result<void> Evaluation::judge_analyses(const std::vector<TaskVersions> &versions) {
  const auto device = place_.environment().device(); // what was measured is asked, live too
  RecordedEnvironment recorded(place_.records(), device ? device_key(*device) : "");
  for (const std::string &name : config_.eval.policies) {
    if (!name.starts_with("builtin"))
      continue;
    auto policy = surroundings_.make_policy(config_, name + "?analysis", config_.run.seed);
    if (!policy)
      return std::unexpected(policy.error());
    std::mt19937_64 random(config_.run.seed);
    Judged faster, why, bound;
    for (const TaskVersions &task : versions)
      for (int i = 0; i < kPairs && task.versions.size() > 1; ++i) {
        const Context context{task.task, task.view, device,
                              choose_exemplars(task.versions, kJudgedExemplars, random),
                              task.versions};
        const AnalysisTruth truth =
            analysis_truth(context.exemplars, task.versions, task.view.original);
        auto proposal = (*policy)->propose(context, recorded);
        if (!proposal)
          return std::unexpected(proposal.error());
        const Analysis &said = proposal->analysis;
        if (truth.faster_exemplar)
          faster.add(said.faster_exemplar == truth.faster_exemplar, 0.5,
                     std::to_string(*truth.faster_exemplar));
        if (const auto names = differing_moves(context.exemplars);
            truth.explaining_move && names.size() > 1)
          why.add(said.explaining_move == truth.explaining_move, 1 / double(names.size()),
                  *truth.explaining_move);
        if (truth.bound)
          bound.add(said.bound == truth.bound, 1.0 / 3, std::string(model::name(*truth.bound)));
      }
    nlohmann::json fields{{"policy", name}};
    faster.write(fields, "faster");
    why.write(fields, "move");
    bound.write(fields, "bound");
    std::cout << "analysis of " << name << ": " << fields.dump() << "\n";
    if (auto logged = log_.write("analysis", fields); !logged)
      return logged;
  }
  return {};
}

/// Tasks that cannot be inferred, or were not recorded, are logged and not judged.
Result<void> leave_out_unmeasurable(std::vector<TrainingTask> &tasks, Environment &environment,
                                    RunLog &log, std::stop_token stop) {
  std::vector<TrainingTask> kept;
  for (TrainingTask &task : tasks) {
    auto session = TrialSession::open(task, environment, stop);
    if (session) {
      kept.push_back(std::move(task));
      continue;
    }
    auto written =
        log.write("left_out", {{"task", task.id}, {"message", describe(session.error())}});
    if (!written || stop.stop_requested())
      return written;
  }
  tasks = std::move(kept);
  return {};
}

} // namespace

Result<void> run_eval(const Config &config, const Surroundings &surroundings) {
  auto place = Workplace::open(config);
  if (!place)
    return std::unexpected(place.error());
  auto split = split_from(config.eval.split);
  auto tasks = split ? (*place)->tasks({*split})
                     : Result<std::vector<TrainingTask>>(std::unexpected(split.error()));
  if (!tasks)
    return std::unexpected(tasks.error());
  auto log = RunLog::open(config.run.out, "eval");
  if (!log)
    return std::unexpected(log.error());
  if (auto left = leave_out_unmeasurable(*tasks, (*place)->environment(), *log, surroundings.stop);
      !left)
    return left;
  if (surroundings.stop.stop_requested())
    return {};
  if (tasks->empty())
    return fail("no task of the split " + config.eval.split + " can be measured",
                "Collect it first, or set environment.mode = \"live\"");
  if (auto written = log->write("start", {{"config", describe_config(config)},
                                          {"seed", config.run.seed},
                                          {"environment", (*place)->environment().name()},
                                          {"tasks", tasks->size()}});
      !written)
    return written;
  Evaluation evaluation(config, surroundings, **place, std::move(*tasks), std::move(*log));
  if (auto done = evaluation.run(); !done || surroundings.stop.stop_requested())
    return done;
  auto versions = task_versions(**place, {*split});
  return versions ? evaluation.judge_analyses(*versions)
                  : Result<void>(std::unexpected(versions.error()));
}

} // namespace warpwright::trainer
