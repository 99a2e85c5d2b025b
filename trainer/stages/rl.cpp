// Stage `rl`: contrastive reinforcement learning, after CUDA-L1 (Li et al. 2025), with GRPO's loss (Shao et al. 2024).
//
// A step draws tasks, puts two versions from distinct score buckets into each prompt, answers each prompt group_size
// times, verifies and measures the answers, turns verdicts into advantages (policy/reward.h), and takes a few clipped
// gradient steps with a KL penalty towards a reference policy. Variants for ablation: "grpo" has no exemplars; "evolve"
// and "random" use the same trials without learning. There is no value network, no entropy bonus, and no off-policy
// correction beyond the clipped ratio.
#include "support/model/json.h"
#include "trainer/policy/analysis_truth.h"
#include "trainer/policy/exemplars.h"
#include "trainer/policy/reward.h"
#include "trainer/environment/walk.h"
#include "trainer/stages/adversary.h"
#include "trainer/stages/learning.h"
#include "trainer/stages/progress.h"
#include "trainer/stages/rollouts.h"
#include "trainer/stages/stages.h"
#include "trainer/stages/step_metrics.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {
namespace {

constexpr std::size_t kMinibatch = 32; ///< sequences
constexpr double kHiddenScores = 0.25; ///< share of prompts that hide scores
constexpr double kWarmup = 8; ///< steps of learning-rate warmup, because optimizer moments are new
constexpr double kLeastGain = 0.1,
                 kMostGain = 0.5; ///< weight of a task by its known gain, for drawing tasks

class Reinforcement {
public:
  Reinforcement(const Config &config, const Surroundings &surroundings, Workplace &place,
                const std::vector<TaskVersions> &tasks, Learning &learning)
      : config_(config), surroundings_(surroundings), place_(place), tasks_(tasks),
        learning_(learning), tried_(place.environment()),
        adversary_(config, place.environment()) {
    for (const TaskVersions &task : tasks_)
      shares_.push_back((shares_.empty() ? 0 : shares_.back()) + kLeastGain +
                        std::min(kMostGain, std::log(std::max(1.0, task.best))));
  }

  Result<void> prepare() {
    const nlohmann::json &state = learning_.model().state;
    adversary_.go_on_from(state.value("adversary", 0));
    TRY(tried_.take(state.value("tried", nlohmann::json::object()), tasks_));
    if (!learns()) {
      strategy_ = TRY(surroundings_.make_policy(config_, config_.rl.variant, config_.run.seed));
      return {};
    }
    if (config_.rl.weights.empty())
      return fail("rl.weights names no policy to start from", "Train one first: sft, then selfsup");
    reference_ = TRY(load_model(config_.rl.weights, config_.run.device));
    return {};
  }

  Result<void> step() {
    std::mt19937_64 random = learning_.random_of_step();
    StepMetrics metrics(config_.rl.variant);
    auto groups = TRY(answered_groups(random));
    metrics.answered_now();
    TRY(measure_groups(groups, place_.environment(), config_.environment.in_flight,
                       config_.rl.confirm_above, surroundings_.stop));
    std::vector<std::vector<GroupMember>> members;
    for (const Group &group : groups)
      members.push_back(members_of(group));
    const double spread = batch_spread(members, config_.rl.best_of);
    TRY(adversary_.step(groups, spread, learning_));
    if (surroundings_.stop.stop_requested())
      return {}; // partly measured; the next start repeats the step
    metrics.measured_now();
    std::vector<Sequence> sequences;
    for (std::size_t i = 0; i < groups.size(); ++i)
      TRY(take(groups[i], group_advantages(members[i], spread, config_.rl.best_of), metrics, sequences));
    if (sequences.empty() && learning_.world().size > 1)
      sequences.push_back(idle_sequence()); // the other processes wait for this one's gradients
    if (learns() && !sequences.empty())
      update(sequences, random, metrics);
    nlohmann::json fields = metrics.to_json();
    fields["step"] = learning_.step();
    fields["variant"] = config_.rl.variant;
    last_note_ = metrics.note();
    learning_.model().state = {{"tried", tried_.to_json()},
                               {"adversary", adversary_.next()}};
    return learning_.log("step", std::move(fields));
  }

  const std::string &last_note() const { return last_note_; }

private:
  bool learns() const {
    return config_.rl.variant == "contrastive" || config_.rl.variant == "grpo";
  }

  static Sequence idle_sequence() {
    Target target;
    target.position = 1;
    return {{0, 0}, {target}};
  }

  /// Draws a task; tasks with a larger known gain are more likely.
  const TaskVersions &drawn_task(std::mt19937_64 &random) const {
    const auto place = std::ranges::upper_bound(shares_, draw_unit(random) * shares_.back());
    return tasks_[std::min(tasks_.size() - 1, std::size_t(place - shares_.begin()))];
  }

  Result<std::vector<Group>> answered_groups(std::mt19937_64 &random) {
    std::vector<Group> groups(std::size_t(config_.rl.groups));
    for (Group &group : groups) {
      group.task = &drawn_task(random);
      group.seed = random();
      group.hides_scores = draw_unit(random) < kHiddenScores;
      auto tried = TRY(tried_.of(group.task->task));
      if (config_.rl.variant == "contrastive")
        group.exemplars = choose_exemplars(
            some_of(*tried, random), {config_.rl.buckets, config_.rl.bucket_temperature}, random);
      if (learns())
        continue;
      const Context context{group.task->task, group.task->view, place_.environment().device(),
                            group.exemplars, *tried};
      TRY(fill_with_strategy(group, context));
    }
    if (!learns())
      return groups;
    SamplingOptions sampling;
    sampling.temperature = config_.rl.temperature;
    sampling.longest = config_.collect.longest;
    TRY(answer_groups(groups, learning_.model(), place_.environment(), sampling,
                      config_.rl.group_size, config_.environment.in_flight));
    return groups;
  }

  Result<void> fill_with_strategy(Group &group, const Context &context) {
    for (int i = 0; i < config_.rl.group_size; ++i) {
      auto proposal = TRY(strategy_->propose(context, place_.environment()));
      Candidate candidate;
      candidate.rollout.proposal = std::move(proposal);
      group.candidates.push_back(std::move(candidate));
    }
    return {};
  }

  /// Notes a group's verdicts and adds the sequences to learn.
  Result<void> take(Group &group, const std::vector<double> &advantages, StepMetrics &metrics,
                    std::vector<Sequence> &sequences) {
    const TaskVersions &task = *group.task;
    for (const Candidate &candidate : group.candidates)
      TRY(note(task.task, candidate,
               candidate.measured ? plain_reward(*candidate.measured) : std::nullopt, metrics));
    if (!learns())
      return {};
    const std::vector<Exemplar> &known = **tried_.of(task.task);
    const AnalysisTruth truth = analysis_truth(group.exemplars, known, task.view.original);
    for (std::size_t i = 0; i < group.candidates.size(); ++i)
      if (Sequence sequence = learned(group.candidates[i].rollout, advantages[i], truth);
          !sequence.targets.empty())
        sequences.push_back(std::move(sequence));
    return {};
  }

  /// The targets to learn from one answer. Reinforced: moves with an alternative, if the advantage is not 0. Imitated:
  /// the analysis that measurements support.
  Sequence learned(const Rollout &rollout, double advantage, const AnalysisTruth &truth) const {
    Sequence sequence{rollout.sequence.tokens, {}};
    const Vocabulary &vocabulary = *learning_.model().vocabulary;
    const auto imitate = [&](int offset, const std::string &word) {
      Target target = rollout.sequence.targets[std::size_t(rollout.analysis_targets + offset)];
      target.token = vocabulary.id(word);
      if (target.allowed.size() < 2 ||
          std::ranges::find(target.allowed, target.token) == target.allowed.end())
        return;
      target.weight = 1;
      sequence.targets.push_back(std::move(target));
    };
    if (truth.faster_exemplar)
      imitate(0, *truth.faster_exemplar == 0 ? Vocabulary::kFirst : Vocabulary::kSecond);
    if (truth.explaining_move)
      imitate(1, "move:" + *truth.explaining_move);
    if (truth.bound)
      imitate(2, std::string(model::name(*truth.bound)));
    for (std::size_t i = std::size_t(rollout.move_targets); i < rollout.sequence.targets.size();
         ++i) {
      Target target = rollout.sequence.targets[i];
      if (target.allowed.size() < 2 || advantage == 0)
        continue;
      target.reinforced = true;
      target.weight = 1;
      target.advantage = float(advantage);
      sequence.targets.push_back(std::move(target));
    }
    return sequence;
  }

  void update(std::vector<Sequence> &sequences, std::mt19937_64 &random, StepMetrics &metrics) {
    const std::vector<float> reference =
        reference_.network->log_probabilities(sequences, config_.rl.temperature);
    std::size_t place = 0;
    for (Sequence &sequence : sequences)
      for (Target &target : sequence.targets)
        target.reference_log = reference[place++];
    StepOptions options;
    options.learning_rate =
        config_.rl.learning_rate * std::min(1.0, double(learning_.step() + 1) / kWarmup);
    options.temperature = config_.rl.temperature;
    options.clip_low = config_.rl.clip_low;
    options.clip_high = config_.rl.clip_high;
    options.kl = config_.rl.kl;
    // All processes must take the same number of steps, because gradients are averaged over them.
    for (int i = 0; i < config_.rl.updates; ++i) {
      for (std::size_t j = sequences.size(); j > 1; --j)
        std::swap(sequences[j - 1], sequences[draw_index(j, random)]);
      const std::size_t parts =
          learning_.world().size > 1 ? 1 : (sequences.size() + kMinibatch - 1) / kMinibatch;
      for (std::size_t part = 0; part < parts; ++part)
        metrics.add(
            learning_.model().network->train(normalised(sequences, part * sequences.size() / parts,
                                                        (part + 1) * sequences.size() / parts),
                                             options));
    }
  }

  /// Sets weights so that the loss is the mean over reinforced targets plus analysis_weight times the mean over
  /// imitated ones. Idle sequences get weight 0.
  std::vector<Sequence> normalised(const std::vector<Sequence> &sequences, std::size_t begin,
                                   std::size_t end) const {
    std::vector<Sequence> batch(sequences.begin() + std::ptrdiff_t(begin),
                                sequences.begin() + std::ptrdiff_t(end));
    float counts[2] = {0, 0};
    for (const Sequence &sequence : batch)
      for (const Target &target : sequence.targets)
        ++counts[target.reinforced];
    for (Sequence &sequence : batch)
      for (Target &target : sequence.targets)
        target.weight = (target.reinforced ? 1.0f : float(config_.rl.analysis_weight)) /
                        counts[target.reinforced] * (sequence.tokens.size() > 2 ? 1.0f : 0.0f);
    return batch;
  }

  /// Adds a candidate to the metrics and the tried versions, and logs a suspected cheat or a new best.
  Result<void> note(const TrainingTask &task, const Candidate &candidate,
                    std::optional<double> reward, StepMetrics &metrics) {
    const Moves &moves = candidate.rollout.proposal.moves;
    metrics.add_candidate(moves, candidate.measured, reward);
    if (!candidate.measured)
      return {};
    const double best = tried_.best(task);
    const bool is_new = tried_.add(task, moves, *candidate.measured);
    if (candidate.measured->outcome == model::Outcome::SuspectedCheat && is_new)
      return store_cheat(learning_, config_.run.out, {task.id, moves, {}, *candidate.measured});
    if (tried_.best(task) <= best)
      return {};
    nlohmann::json fields{{"task", task.id},
                          {"policy", config_.rl.variant},
                          {"moves", moves},
                          {"outcome", model::name(candidate.measured->outcome)},
                          {"reward", reward.value_or(0)},
                          {"best_speedup", tried_.best(task)},
                          {"step", learning_.step()}};
    if (candidate.measured->speedup)
      fields["speedup"] = candidate.measured->speedup->ratio;
    return learning_.log("proposal", std::move(fields));
  }

  const Config &config_;
  const Surroundings &surroundings_;
  Workplace &place_;
  const std::vector<TaskVersions> &tasks_;
  Learning &learning_;
  TriedVersions tried_;
  Adversary adversary_;
  Model reference_;
  std::vector<double> shares_; ///< cumulative weights of tasks
  std::unique_ptr<Policy> strategy_;
  std::string last_note_;
};

} // namespace

Result<void> run_rl(const Config &config, const Surroundings &surroundings) {
  auto place = TRY(Workplace::open(config));
  auto tasks = TRY(training_tasks(*place, config.environment.in_flight, surroundings.stop));
  auto learning =
      TRY(Learning::start(config, "rl", config.rl.weights, vocabulary_words(*place, tasks)));
  Reinforcement reinforcement(config, surroundings, *place, tasks, learning);
  TRY(reinforcement.prepare());
  Progress progress("rl", "steps", config.rl.steps, surroundings.quiet || !learning.writes());
  while (learning.step() < config.rl.steps) {
    TRY(reinforcement.step());
    if (surroundings.stop.stop_requested())
      return {};
    const bool last = learning.step() + 1 >= config.rl.steps;
    TRY(learning.finish_step(config.rl.checkpoint_every, last));
    progress.show(learning.step(), reinforcement.last_note());
  }
  TRY(learning.finish());
  return learning.log("done", {{"steps", learning.step()}, {"steps_per_s", progress.per_second()}});
}

} // namespace warpwright::trainer
