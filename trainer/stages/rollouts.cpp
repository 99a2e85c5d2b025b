#include "trainer/stages/rollouts.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace warpwright::trainer {

Result<const std::vector<Exemplar> *> TriedVersions::of(const TrainingTask &task) {
  std::vector<Exemplar> &tried = tried_[task.id];
  if (tried.empty()) {
    auto original = environment_.measure(task, {});
    if (!original)
      return std::unexpected(original.error());
    tried.push_back({{}, *original, {}});
  }
  return &tried;
}

bool TriedVersions::add(const TrainingTask &task, const Moves &moves, const Measured &measured) {
  std::vector<Exemplar> &tried = tried_[task.id];
  if (std::ranges::any_of(tried, [&](const Exemplar &known) { return known.moves == moves; }))
    return false;
  tried.push_back({moves, measured, {}});
  return true;
}

double TriedVersions::best(const TrainingTask &task) const {
  double best = 0;
  if (const auto tried = tried_.find(task.id); tried != tried_.end())
    for (const Exemplar &version : tried->second)
      best = std::max(best, score_of(version.measured).value_or(0));
  return best;
}

nlohmann::json TriedVersions::to_json() const {
  nlohmann::json json = nlohmann::json::object();
  for (const auto &[task, versions] : tried_)
    for (const Exemplar &version : versions)
      json[task].push_back(version.moves);
  return json;
}

Result<void> TriedVersions::take(const nlohmann::json &json,
                                 const std::vector<TaskVersions> &tasks) {
  for (const TaskVersions &known : tasks) {
    if (!json.contains(known.task.id))
      continue;
    for (const nlohmann::json &moves : json.at(known.task.id)) {
      auto measured = environment_.measure(known.task, moves.get<Moves>());
      if (!measured)
        return std::unexpected(measured.error());
      add(known.task, moves.get<Moves>(), *measured);
    }
  }
  return {};
}

namespace {

struct Job {
  const TrainingTask *task;
  Moves moves;
  std::vector<Candidate *> candidates;
};

std::vector<Job> jobs_of(std::vector<Group> &groups) {
  std::map<std::pair<std::string, Moves>, Job> jobs;
  for (Group &group : groups)
    for (Candidate &candidate : group.candidates) {
      const Moves &moves = candidate.rollout.proposal.moves;
      if (moves.empty())
        continue;
      Job &job = jobs[{group.task->task.id, moves}];
      job.task = &group.task->task;
      job.moves = moves;
      job.candidates.push_back(&candidate);
    }
  std::vector<Job> list;
  for (auto &[key, job] : jobs)
    list.push_back(std::move(job));
  return list;
}

} // namespace

Result<void> measure_groups(std::vector<Group> &groups, Environment &environment, int in_flight,
                            double confirm_above, std::stop_token stop) {
  std::vector<Job> jobs = jobs_of(groups);
  std::atomic<std::size_t> next = 0;
  Exclusive<std::optional<Error>> failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size() && !stop.stop_requested(); i = next++) {
      auto measured = environment.measure(*jobs[i].task, jobs[i].moves, stop);
      if (measured && measured->speedup && confirm_above > 0 &&
          measured->speedup->ratio > confirm_above && !measured->confirmed)
        measured = environment.confirm(*jobs[i].task, jobs[i].moves, stop);
      if (!measured && !stop.stop_requested()) {
        failure.with([&](auto &first) { first = measured.error(); });
        next = jobs.size();
        return;
      }
      for (Candidate *candidate : jobs[i].candidates)
        if (measured)
          candidate->measured = *measured;
    }
  };
  if (environment.name() == "recorded") {
    work();
  } else {
    std::vector<std::jthread> threads;
    for (int i = 0; i < in_flight; ++i)
      threads.emplace_back(work);
  }
  return failure.with([](auto &first) -> Result<void> {
    if (first)
      return std::unexpected(*first);
    return {};
  });
}

} // namespace warpwright::trainer
