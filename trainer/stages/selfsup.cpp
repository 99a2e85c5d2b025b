// Stage `selfsup`: the policy proposes, the runner verifies, and the policy learns verified answers.
//
// A round proposes for random tasks, keeps the answers with the verdict "verified", and imitates them for some steps;
// in other words, the reward is 1 or 0, without a baseline. The stage teaches correctness, not speed, like the second
// stage of CUDA-L1. Answers of earlier rounds serve only as exemplars.
#include "support/model/json.h"
#include "trainer/policy/exemplars.h"
#include "trainer/environment/walk.h"
#include "trainer/stages/learning.h"
#include "trainer/stages/progress.h"
#include "trainer/stages/rollouts.h"
#include "trainer/stages/stages.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

constexpr int kAnswers = 4; ///< per prompt

/// Draws prompts and answers them, several prompts at a time.
Result<std::vector<Group>> proposed(const Config &config, Workplace &place, Model &model,
                                    const std::vector<TaskVersions> &tasks, TriedVersions &before,
                                    std::mt19937_64 &random) {
  std::vector<Group> groups(std::size_t(std::max(1, config.selfsup.proposals / kAnswers)));
  for (Group &group : groups) {
    group.task = &tasks[draw_index(tasks.size(), random)];
    group.seed = random();
    auto known = TRY(before.of(group.task->task));
    group.exemplars = choose_exemplars(some_of(*known, random), {}, random);
  }
  SamplingOptions sampling;
  sampling.temperature = config.selfsup.temperature;
  sampling.longest = config.collect.longest;
  TRY(answer_groups(groups, model, place.environment(), sampling, kAnswers,
                    config.environment.in_flight));
  return groups;
}

/// Returns the verified answers, with their moves as targets to imitate.
std::vector<Sequence> kept(const std::vector<Group> &groups) {
  std::vector<Sequence> sequences;
  for (const Group &group : groups)
    for (const Candidate &candidate : group.candidates) {
      if (!candidate.measured || candidate.measured->outcome != model::Outcome::Verified)
        continue;
      Sequence sequence{candidate.rollout.sequence.tokens, {}};
      const auto &targets = candidate.rollout.sequence.targets;
      for (std::size_t i = std::size_t(candidate.rollout.move_targets); i < targets.size(); ++i)
        if (targets[i].allowed.size() > 1)
          sequence.targets.push_back(targets[i]);
      if (!sequence.targets.empty())
        sequences.push_back(std::move(sequence));
    }
  return sequences;
}

std::vector<Sequence> drawn_batch(const std::vector<Sequence> &sequences, int count,
                                  std::mt19937_64 &random) {
  std::vector<Sequence> batch;
  std::size_t targets = 0;
  for (int i = 0; i < count; ++i) {
    batch.push_back(sequences[draw_index(sequences.size(), random)]);
    targets += batch.back().targets.size();
  }
  for (Sequence &sequence : batch)
    for (Target &target : sequence.targets)
      target.weight = 1.0f / float(targets);
  return batch;
}

} // namespace

Result<void> run_selfsup(const Config &config, const Surroundings &surroundings) {
  auto place = TRY(Workplace::open(config));
  if (config.selfsup.weights.empty())
    return fail("selfsup.weights names no policy to start from", "Run sft first");
  auto tasks = TRY(training_tasks(*place, config.environment.in_flight, surroundings.stop));
  auto learning = TRY(Learning::start(config, "selfsup", config.selfsup.weights, {}));
  Model &model = learning.model();
  TriedVersions before(place.get()->environment());
  Progress progress("selfsup", "rounds", config.selfsup.rounds,
                    surroundings.quiet || !learning.writes());

  while (learning.step() < config.selfsup.rounds) {
    std::mt19937_64 random = learning.random_of_step();
    auto groups = TRY(proposed(config, *place, model, tasks, before, random));
    TRY(measure_groups(groups, place->environment(), config.environment.in_flight, 0,
                       surroundings.stop));
    if (surroundings.stop.stop_requested())
      return {};
    int proposals = 0, verified = 0;
    for (const Group &group : groups)
      for (const Candidate &candidate : group.candidates) {
        ++proposals;
        if (!candidate.measured)
          continue;
        verified += candidate.measured->outcome == model::Outcome::Verified;
        before.add(group.task->task, candidate.rollout.proposal.moves, *candidate.measured);
      }
    const std::vector<Sequence> sequences = kept(groups);
    double loss = 0, accuracy = 0;
    for (int i = 0; i < config.selfsup.steps && !sequences.empty(); ++i) {
      StepOptions options;
      options.learning_rate = config.selfsup.learning_rate;
      const StepReport report =
          model.network->train(drawn_batch(sequences, config.selfsup.batch, random), options);
      loss += report.imitation_loss / config.selfsup.steps;
      accuracy += report.imitation_accuracy / config.selfsup.steps;
    }
    auto logged = learning.log("step", {{"step", learning.step()},
                                        {"loss", loss},
                                        {"accuracy_moves", accuracy},
                                        {"proposals", proposals},
                                        {"success", double(verified) / std::max(1, proposals)}});
    if (!logged)
      return logged;
    const bool last = learning.step() + 1 >= config.selfsup.rounds;
    TRY(learning.finish_step(1, last));
    progress.show(learning.step());
  }
  TRY(learning.finish());
  return learning.log("done", {{"rounds", learning.step()}});
}

} // namespace warpwright::trainer
