// Stage `eval`: scores policies by the best of k candidates on a split, with equal trials and equal unchanged sources.
//
// A task's best starts at 1, the score of its unchanged source; only verified candidates raise it, and failures count
// as trials. Means are geometric over tasks, after averaging a task's repeats. Intervals are bootstraps over tasks, and
// policies are compared task by task. Each session has its own seed, so a stopped live evaluation can resume from its
// records without measuring again.
#include "support/model/json.h"
#include "trainer/policy/reward.h"
#include "trainer/stages/analysis_score.h"
#include "trainer/stages/each_of.h"
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

constexpr std::uint64_t kReferenceSeed = 0x9e3779b97f4a7c15; ///< not a policy's seed
constexpr int kReferenceSession = 64, kLostTrials = 4;

/// Results of one policy on one task in one repeat.
struct Session {
  std::vector<double> log_best; ///< [k]
  std::vector<bool> found;      ///< [k]: a candidate was faster than the unchanged source
  double seconds = 0;           ///< spent on proposals
  std::int64_t proposals = 0;
};

/// Results of one policy: mean log best over repeats, and how often a faster candidate was found.
struct Scores {
  std::string policy;
  std::vector<std::vector<double>> log_best; ///< [k][task]
  std::vector<double> success;               ///< [k], share of tasks and repeats
  double seconds_a_proposal = 0;
  std::int64_t proposals = 0;

  void take(std::size_t task, const Session &session, double share) {
    for (std::size_t i = 0; i < session.log_best.size(); ++i) {
      log_best[i][task] += session.log_best[i] * share;
      success[i] += double(session.found[i]) * share / double(log_best[i].size());
    }
    seconds_a_proposal += session.seconds;
    proposals += session.proposals;
  }
};

class Evaluation {
public:
  Evaluation(const Config &config, const Surroundings &surroundings, Workplace &place,
             std::vector<TrainingTask> tasks, RunLog &log)
      : config_(config), surroundings_(surroundings), place_(place), tasks_(std::move(tasks)),
        log_(log), ks_(config.eval.k),
        progress_("eval", "sessions",
                  std::int64_t(config.eval.policies.size() * tasks_.size()) * config.eval.repeats,
                  surroundings.quiet) {
    std::ranges::sort(ks_);
  }

  /// Evaluates all policies. After a stop, it reports the policies that were evaluated completely.
  Result<void> run() {
    TRY(judge_reference());
    for (const std::string &listed : config_.eval.policies) {
      const std::string name = listed.substr(0, listed.find('@'));
      const std::vector<int> ks = ks_of(listed);
      std::vector<std::uint64_t> seeds;
      for (int repeat = 0; repeat < config_.eval.repeats; ++repeat)
        seeds.push_back(config_.run.seed * 1000 + std::uint64_t(repeat));
      auto sessions = TRY(sessions_of(name, seeds, ks));
      if (stopped())
        break;
      Scores scores{name, {}, std::vector<double>(ks.size()), 0, 0};
      scores.log_best.assign(ks.size(), std::vector<double>(tasks_.size()));
      for (std::size_t i = 0; i < sessions.size(); ++i)
        scores.take(i % tasks_.size(), sessions[i], 1.0 / config_.eval.repeats);
      all_.push_back(std::move(scores));
    }
    return report();
  }

private:
  /// Values of k for a policy: "evolve@16" has at most 16 trials.
  std::vector<int> ks_of(const std::string &listed) const {
    std::vector<int> ks = ks_;
    if (const auto mark = listed.find('@'); mark != std::string::npos)
      std::erase_if(ks, [&](int k) { return k > std::atoi(listed.c_str() + mark + 1); });
    return ks;
  }

  bool stopped() const { return surroundings_.stop.stop_requested(); }

  /// Runs random search with many trials, in short sessions that run at once; the best session of a task counts.
  Result<void> judge_reference() {
    if (config_.eval.reference_trials <= 0)
      return {};
    std::vector<std::uint64_t> seeds;
    for (int trials = 0; trials < config_.eval.reference_trials; trials += kReferenceSession)
      seeds.push_back(kReferenceSeed + seeds.size());
    auto sessions = TRY(
        sessions_of("random", seeds, {std::min(kReferenceSession, config_.eval.reference_trials)}));
    if (stopped())
      return {};
    log_reference_.assign(tasks_.size(), 0);
    for (std::size_t i = 0; i < sessions.size(); ++i)
      log_reference_[i % tasks_.size()] =
          std::max(log_reference_[i % tasks_.size()], sessions[i].log_best.front());
    return {};
  }

  /// Runs one session per seed and task; the index of the task changes fastest. Several sessions run at once, each with
  /// its own policy. Endpoint policies, which keep an account, run one session at a time.
  Result<std::vector<Session>> sessions_of(const std::string &name,
                                           const std::vector<std::uint64_t> &seeds,
                                           const std::vector<int> &ks) {
    std::vector<Session> sessions(
        tasks_.size() * seeds.size(),
        {std::vector<double>(ks.size()), std::vector<bool>(ks.size()), 0, 0});
    const bool alone = name.starts_with("endpoint");
    std::unique_ptr<Policy> shared;
    Exclusive<std::optional<Error>> failure;
    const auto one = [&](std::size_t i) -> Result<void> {
      const std::size_t task = i % tasks_.size();
      const std::uint64_t seed = seeds[i / tasks_.size()];
      const std::uint64_t own_seed = seed * 7919 ^ std::hash<std::string>{}(tasks_[task].id);
      if (alone && shared && task > 0)
        return one_session(*shared, name, task, own_seed, ks, sessions[i]);
      TRY(shared ? log_account(*shared, name) : Result<void>());
      auto policy = TRY(surroundings_.make_policy(config_, name, own_seed));
      if (!alone)
        return one_session(*policy, name, task, own_seed, ks, sessions[i]);
      shared = std::move(policy);
      return one_session(*shared, name, task, own_seed, ks, sessions[i]);
    };
    each_of(sessions.size(), alone ? 1 : config_.environment.in_flight, [&](std::size_t i) {
      if (stopped())
        return;
      auto done = one(i);
      failure.with([&](auto &first) {
        if (!done && !first)
          first = done.error();
        progress_.show(++sessions_done_, name);
      });
    });
    if (const auto failed = failure.with([](auto &first) { return first; }); failed)
      return std::unexpected(*failed);
    if (shared)
      TRY(log_account(*shared, name));
    return sessions;
  }

  Result<void> log_account(const Policy &policy, const std::string &name) {
    nlohmann::json account = policy.account();
    if (account.is_null())
      return {};
    account["policy"] = name;
    return log_.write("policy", std::move(account));
  }

  Result<void> one_session(Policy &policy, const std::string &name, std::size_t task,
                           std::uint64_t seed, const std::vector<int> &ks, Session &scores) {
    std::mt19937_64 random(seed);
    auto session = TrialSession::open(tasks_[task], place_.environment(), surroundings_.stop);
    if (!session)
      return stopped() ? Result<void>() : std::unexpected(session.error());
    double best = 1;
    bool found = false;
    int trials = 0, lost = 0;
    std::vector<double> all; // scores of trials, 0 if not verified
    for (std::size_t i = 0; i < ks.size(); ++i) {
      for (; trials < ks[i] && !session->exhausted(); ++trials) {
        auto trial = session->next(policy, place_.environment(),
                                   {config_.rl.buckets, config_.rl.bucket_temperature}, random,
                                   surroundings_.stop);
        if (!trial && !stopped() && ++lost < kLostTrials)
          continue; // a crashed child costs a trial
        if (!trial)
          return stopped() ? Result<void>() : std::unexpected(trial.error());
        scores.seconds += trial->proposal.seconds;
        ++scores.proposals;
        all.push_back(trial->wasted ? 0 : score_of(trial->measured).value_or(0));
        if (all.back() == 0)
          continue;
        const auto speedup = conservative_speedup(trial->measured);
        found = found || !speedup || *speedup > 1;
        best = std::max(best, score_of(trial->measured).value_or(0));
      }
      scores.log_best[i] = std::log(best);
      scores.found[i] = found;
    }
    return log_session(name, task, all);
  }

  Result<void> log_session(const std::string &name, std::size_t task,
                           const std::vector<double> &scores) {
    return shared_log_.with([&](RunLog *log) {
      return log->write("session",
                        {{"policy", name}, {"task", tasks_[task].id}, {"scores", scores}});
    });
  }

  Result<void> report() {
    std::vector<double> log_known;
    for (const TrainingTask &task : tasks_)
      log_known.push_back(std::log(std::max(1.0, best_known(task))));
    const double known = geometric_mean(log_known, 1).value;
    if (!log_reference_.empty())
      TRY(report_reference());
    std::cout << "policy                k   geometric mean [95%]      success   of best known\n";
    for (const Scores &scores : all_)
      for (std::size_t i = 0; i < scores.log_best.size(); ++i) {
        const Interval mean = geometric_mean(scores.log_best[i], config_.run.seed);
        char line[160];
        std::snprintf(line, sizeof line, "%-18s %4d   %6.3f [%6.3f, %6.3f]   %6.1f%%   %6.1f%%\n",
                      scores.policy.substr(0, 18).c_str(), ks_[i], mean.value, mean.low, mean.high,
                      100 * scores.success[i], 100 * mean.value / known);
        std::cout << line;
        const auto info = place_.environment().device();
        nlohmann::json fields{
            {"policy", scores.policy},
            {"k", ks_[i]},
            {"geomean", mean.value},
            {"low", mean.low},
            {"high", mean.high},
            {"success", scores.success[i]},
            {"tasks", tasks_.size()},
            {"log_best", scores.log_best[i]},
            {"device", info ? device_key(*info) : ""},
            {"best_known_geomean", known},
            {"share_of_best", mean.value / known},
            {"seconds_a_proposal",
             scores.seconds_a_proposal / std::max<double>(1, double(scores.proposals))}};
        if (!log_reference_.empty()) {
          const Interval share = paired_ratio(scores.log_best[i], log_reference_, config_.run.seed);
          fields["share_of_reference"] = share.value;
          fields["share_low"] = share.low;
          fields["share_high"] = share.high;
        }
        auto logged = log_.write("best_of_k", std::move(fields));
        if (!logged)
          return logged;
      }
    return report_pairs();
  }

  Result<void> report_reference() {
    const Interval mean = geometric_mean(log_reference_, config_.run.seed);
    std::cout << "best of " << config_.eval.reference_trials << " random trials: " << mean.value
              << " [" << mean.low << ", " << mean.high << "]\n";
    nlohmann::json by_task;
    for (std::size_t task = 0; task < tasks_.size(); ++task)
      by_task[tasks_[task].id] = std::exp(log_reference_[task]);
    return log_.write("reference", {{"policy", "random"},
                                    {"k", config_.eval.reference_trials},
                                    {"geomean", mean.value},
                                    {"low", mean.low},
                                    {"high", mean.high},
                                    {"by_task", std::move(by_task)}});
  }

  Result<void> report_pairs() {
    for (const Scores &a : all_)
      for (const Scores &b : all_) {
        if (&a == &b)
          continue;
        for (std::size_t i = 0; i < std::min(a.log_best.size(), b.log_best.size()); ++i) {
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

  /// Best score among all records of the task.
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
  RunLog &log_;
  Exclusive<RunLog *> shared_log_{&log_}; ///< for sessions that run at once
  std::vector<int> ks_;
  std::vector<Scores> all_;
  std::vector<double> log_reference_; ///< [task], from random search with many trials
  Progress progress_;
  std::int64_t sessions_done_ = 0;
};

std::vector<std::string> ids_of(const std::vector<TrainingTask> &tasks) {
  std::vector<std::string> ids;
  for (const TrainingTask &task : tasks)
    ids.push_back(task.id);
  return ids;
}

/// Removes and logs tasks that cannot be inferred, are not recorded, or have an unverified source.
Result<void> leave_out_unmeasurable(std::vector<TrainingTask> &tasks, Environment &environment,
                                    int in_flight, RunLog &log, std::stop_token stop) {
  std::vector<Result<TrialSession>> sessions(tasks.size(), fail("stopped"));
  each_of(tasks.size(), in_flight, [&](std::size_t i) {
    if (!stop.stop_requested())
      sessions[i] = TrialSession::open(tasks[i], environment, stop);
  });
  std::vector<TrainingTask> kept;
  for (std::size_t i = 0; i < tasks.size() && !stop.stop_requested(); ++i) {
    if (sessions[i] && sessions[i]->best() > 0) {
      kept.push_back(std::move(tasks[i]));
      continue;
    }
    const std::string why =
        sessions[i] ? "its unchanged source is not verified" : describe(sessions[i].error());
    TRY(log.write("left_out", {{"task", tasks[i].id}, {"message", why}}));
  }
  tasks = std::move(kept);
  return {};
}

} // namespace

Result<void> run_eval(const Config &config, const Surroundings &surroundings) {
  auto place = TRY(Workplace::open(config));
  auto split = split_from(config.eval.split);
  auto tasks = TRY(split ? place->tasks({*split})
                         : Result<std::vector<TrainingTask>>(std::unexpected(split.error())));
  auto log = TRY(RunLog::open(config.run.out, "eval"));
  TRY(leave_out_unmeasurable(tasks, place->environment(), config.environment.in_flight, log,
                             surroundings.stop));
  if (surroundings.stop.stop_requested())
    return {};
  if (tasks.empty())
    return fail("no task of the split " + config.eval.split + " can be measured",
                "Collect it first, or set environment.mode = \"live\"");
  TRY(log.write("start", {{"config", describe_config(config)},
                          {"seed", config.run.seed},
                          {"environment", place->environment().name()},
                          {"task_ids", ids_of(tasks)},
                          {"tasks", tasks.size()}}));
  Evaluation evaluation(config, surroundings, *place, std::move(tasks), log);
  if (auto done = evaluation.run(); !done || surroundings.stop.stop_requested())
    return done;
  auto versions = task_versions(*place, {*split});
  return versions ? score_analyses(config, surroundings, *place, *versions, log)
                  : Result<void>(std::unexpected(versions.error()));
}

} // namespace warpwright::trainer
