// Stage `collect`: runs every strategy in turn over every task and records every verdict.
//
// Each round makes one trial of every task, so that a run that is stopped early has covered all tasks evenly. Several
// tasks run at once, so that a runner compiles one while it measures another. Recorded verdicts are not measured again,
// so a killed run resumes where it stopped. All tasks get the same number of trials.
#include "support/model/json.h"
#include "trainer/stages/progress.h"
#include "trainer/stages/run_log.h"
#include "trainer/stages/stages.h"
#include "trainer/stages/stop.h"
#include "trainer/stages/trials.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

namespace warpwright::trainer {
namespace {

struct Collected {
  TrainingTask task;
  std::optional<TrialSession> session;
  std::vector<std::unique_ptr<Policy>> policies;
  std::mt19937_64 random;
  int trials = 0, failures = 0;
  bool given_up = false;
};

constexpr int kFailuresOfATask = 3, kFailures = 30; ///< limits for giving up a task and the run

/// State that all threads share: log, progress bar and counts.
struct Account {
  RunLog log;
  Progress progress;
  std::int64_t measured = 0, verified = 0;
  int failures = 0;
  std::optional<Error> failure;
};

class Collection {
public:
  Collection(const Config &config, const Surroundings &surroundings, Workplace &place,
             std::vector<TrainingTask> tasks, RunLog log)
      : config_(config), surroundings_(surroundings), place_(place),
        account_(std::move(log),
                 Progress("collect", "candidates",
                          std::int64_t(tasks.size()) * config.collect.trials, surroundings.quiet)),
        deadline_(config.collect.seconds) {
    for (TrainingTask &task : tasks) {
      auto collected = std::make_unique<Exclusive<Collected>>();
      collected->with([&](Collected &value) {
        value.random.seed(config.run.seed ^ std::hash<std::string>{}(task.id));
        value.task = std::move(task);
      });
      tasks_.push_back(std::move(collected));
    }
  }

  Result<void> run() {
    std::vector<std::jthread> threads;
    for (int i = 0; i < config_.environment.in_flight; ++i)
      threads.emplace_back([this] { work(); });
    threads.clear();
    return account_.with([&](Account &account) -> Result<void> {
      if (account.failure)
        return std::unexpected(*account.failure);
      return account.log.write("done", {{"measured", account.measured},
                                        {"verified", account.verified},
                                        {"candidates_per_s", account.progress.per_second()}});
    });
  }

private:
  bool is_over() const {
    return surroundings_.stop.stop_requested() || stop_.stop_requested() || deadline_.is_over();
  }

  void work() {
    const std::size_t jobs = tasks_.size() * std::size_t(config_.collect.trials);
    for (std::size_t job = next_++; job < jobs && !is_over(); job = next_++) {
      const auto tried = tasks_[job % tasks_.size()]->with(
          [&](Collected &collected) { return one_trial(collected); });
      if (!tried)
        give_up(tried.error());
    }
  }

  void give_up(const Error &error) {
    stop_.request_stop();
    account_.with([&](Account &account) {
      if (!account.failure)
        account.failure = error;
    });
  }

  /// Errors: only those that end the run. A task that cannot be opened is logged and left out.
  Result<void> one_trial(Collected &collected) {
    if (collected.given_up || collected.trials >= config_.collect.trials)
      return {};
    if (!collected.session)
      if (auto opened = open(collected); !opened || collected.given_up)
        return opened;
    for (std::size_t i = 0; i < collected.policies.size(); ++i) {
      const auto turn = (std::size_t(collected.trials) + i) % collected.policies.size();
      auto trial = collected.session->next(*collected.policies[turn], place_.environment(), {},
                                           collected.random, surroundings_.stop);
      if (!trial)
        return surroundings_.stop.stop_requested() ? Result<void>()
                                                   : failed(collected, trial.error());
      if (trial->wasted)
        continue; // the next strategy may find a new candidate
      ++collected.trials;
      return report(collected, *trial, std::string(collected.policies[turn]->name()));
    }
    collected.given_up = true; // no strategy found a new candidate
    return {};
  }

  /// Logs a failed trial, such as a crashed child or a lost job. Errors: too many failures in this run.
  Result<void> failed(Collected &collected, const Error &error) {
    collected.given_up = ++collected.failures >= kFailuresOfATask;
    return account_.with([&](Account &account) -> Result<void> {
      if (++account.failures >= kFailures)
        return std::unexpected(error);
      return account.log.write("failed",
                               {{"task", collected.task.id}, {"message", describe(error)}});
    });
  }

  Result<void> open(Collected &collected) {
    auto session = TrialSession::open(collected.task, place_.environment(), surroundings_.stop);
    if (!session) {
      collected.given_up = true;
      return account_.with([&](Account &account) {
        return account.log.write(
            "left_out", {{"task", collected.task.id}, {"message", describe(session.error())}});
      });
    }
    place_.records().with([&](RecordBook &book) {
      const TaskRecord *record = book.find(collected.task.id);
      for (const auto &[moves, state] : record->states)
        if (const Measured *known = book.find_verdict(collected.task.id, state.text_hash,
                                                      device_key(*place_.environment().device())))
          session->remember(moves, state.text_hash, *known);
    });
    collected.trials = int(session->tried().size()) - 1;
    for (const std::string &name : config_.collect.strategies) {
      collected.policies.push_back(
          TRY(surroundings_.make_policy(config_, name, collected.random())));
    }
    collected.session = std::move(*session);
    return {};
  }

  Result<void> report(const Collected &collected, const Trial &trial, const std::string &policy) {
    return account_.with([&](Account &account) {
      ++account.measured;
      account.verified += trial.measured.outcome == model::Outcome::Verified;
      account.progress.show(account.measured, collected.task.family);
      nlohmann::json fields{{"task", collected.task.id},
                            {"policy", policy},
                            {"moves", trial.proposal.moves},
                            {"outcome", model::name(trial.measured.outcome)},
                            {"best_speedup", collected.session->best()}};
      if (trial.measured.speedup)
        fields["speedup"] = trial.measured.speedup->ratio;
      return account.log.write("proposal", std::move(fields));
    });
  }

  const Config &config_;
  const Surroundings &surroundings_;
  Workplace &place_;
  Exclusive<Account> account_;
  std::vector<std::unique_ptr<Exclusive<Collected>>> tasks_;
  Deadline deadline_;
  std::stop_source stop_;
  std::atomic<std::size_t> next_ = 0;
};

} // namespace

Result<void> run_collect(const Config &config, const Surroundings &surroundings) {
  if (config.environment.mode != "live" || config.environment.records.empty())
    return fail("collect measures, and needs a file for what it measures",
                "Set environment.mode = \"live\" and environment.records = [\"records.jsonl\"]");
  auto place = TRY(Workplace::open(config));
  std::vector<Split> splits;
  for (const std::string &text : config.collect.splits)
    splits.push_back(TRY(split_from(text)));
  auto tasks = place->tasks(splits);
  auto log = RunLog::open(config.run.out, "collect");
  if (!tasks || !log)
    return std::unexpected(tasks ? log.error() : tasks.error());
  TRY(log->write(
      "start",
      {{"config", describe_config(config)}, {"seed", config.run.seed}, {"tasks", tasks->size()}}));
  return Collection(config, surroundings, *place, std::move(*tasks), std::move(*log)).run();
}

} // namespace warpwright::trainer
