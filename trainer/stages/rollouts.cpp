#include "trainer/stages/rollouts.h"

#include "trainer/environment/env_line.h"
#include "trainer/environment/walk.h"
#include "trainer/stages/each_of.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

constexpr double kMostKnown = 24; ///< versions besides the unchanged source

} // namespace

Result<const std::vector<Exemplar> *> TriedVersions::of(const TrainingTask &task) {
  std::vector<Exemplar> &tried = tried_[task.id];
  if (tried.empty()) {
    auto original = TRY(environment_.measure(task, {}));
    tried.push_back({{}, original, {}});
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
      auto measured = TRY(environment_.measure(known.task, moves.get<Moves>()));
      add(known.task, moves.get<Moves>(), measured);
    }
  }
  return {};
}

GroupMember member_of(const Measured &measured) {
  return {plain_reward(measured), measured.outcome == model::Outcome::SuspectedCheat};
}

std::vector<GroupMember> members_of(const Group &group) {
  std::vector<GroupMember> members;
  for (const Candidate &candidate : group.candidates)
    members.push_back(candidate.measured ? member_of(*candidate.measured) : GroupMember{});
  return members;
}

std::vector<Exemplar> some_of(const std::vector<Exemplar> &tried, std::mt19937_64 &random) {
  std::vector<Exemplar> some(tried.begin(), tried.begin() + !tried.empty());
  // Half of the draws add no version; in the other half, few versions are more likely than many.
  const double known = std::max(0.0, 2 * draw_unit(random) - 1);
  const auto most = std::min<double>(kMostKnown, double(tried.size()));
  for (std::size_t left = std::size_t(known * known * most + 0.5); left > 0; --left)
    some.push_back(tried[draw_index(tried.size(), random)]);
  return some;
}

Result<void> answer_groups(std::vector<Group> &groups, Model &model, Environment &environment,
                           const SamplingOptions &sampling, int answers, int at_once) {
  Exclusive<std::optional<Error>> failure;
  const auto device = environment.device();
  const auto answer_one = [&](Group &group) -> Result<void> {
    std::mt19937_64 random(group.seed);
    SamplingOptions options = sampling;
    options.prompt.hides_scores = group.hides_scores;
    const Context context{group.task->task, group.task->view, device, group.exemplars,
                          group.exemplars};
    auto reading = TRY(PromptReading::read(*model.network, *model.vocabulary, context, environment,
                                           options.prompt));
    for (int i = 0; i < answers; ++i) {
      auto rollout = TRY(reading.answer(context, environment, options, random));
      group.candidates.push_back({std::move(rollout), {}});
    }
    return {};
  };
  each_of(groups.size(), at_once, [&](std::size_t i) {
    auto answered = answer_one(groups[i]);
    const bool lost = !answered && answered.error().message.starts_with(kEnvLost);
    if (!answered && !lost) // a lost child only loses the group's answers
      failure.with([&](auto &first) { first = answered.error(); });
  });
  return failure.with([](auto &first) -> Result<void> {
    if (first)
      return std::unexpected(*first);
    return {};
  });
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
  Exclusive<std::optional<Error>> failure;
  std::atomic<bool> failed = false;
  const auto measure_one = [&](std::size_t i) {
    if (failed || stop.stop_requested())
      return;
    auto measured = environment.measure(*jobs[i].task, jobs[i].moves, stop);
    if (measured && measured->speedup && confirm_above > 0 &&
        measured->speedup->ratio > confirm_above && !measured->confirmed)
      measured = environment.confirm(*jobs[i].task, jobs[i].moves, stop);
    if (!measured && measured.error().message.starts_with(kEnvLost))
      return; // a lost child says nothing about the candidate
    if (!measured && !stop.stop_requested()) {
      failure.with([&](auto &first) { first = measured.error(); });
      failed = true;
      return;
    }
    for (Candidate *candidate : jobs[i].candidates)
      if (measured)
        candidate->measured = *measured;
  };
  each_of(jobs.size(), environment.name() == "recorded" ? 1 : in_flight, measure_one);
  return failure.with([](auto &first) -> Result<void> {
    if (first)
      return std::unexpected(*first);
    return {};
  });
}

} // namespace warpwright::trainer
