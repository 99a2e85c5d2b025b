// Stage `sft`: imitation of each recorded task's verified best versions, and of the analysis that measurements support.
//
// A step draws tasks. For each task, the answer is a version near its best and the exemplars are versions with lower
// scores, so that the answer improves on the prompt. Some prompts have only the unchanged source, as in the first
// proposal of a search, and some hide scores. The loss is the cross-entropy of the answer's tokens under the mask of
// legal moves; prompt tokens have no loss.
#include "trainer/policy/analysis_truth.h"
#include "trainer/policy/exemplars.h"
#include "trainer/environment/walk.h"
#include "trainer/stages/learning.h"
#include "trainer/stages/progress.h"
#include "trainer/stages/stages.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace warpwright::trainer {
namespace {

constexpr float kAnalysisWeight = 1.0f;
constexpr double kFirstTrial = 0.3; ///< share of prompts with only the unchanged source
/// A higher temperature than in reinforcement learning, for more varied prompts.
constexpr ExemplarChoice kExemplars{.buckets = 8, .temperature = 4};
constexpr int kValidationEvery = 50;

struct Imitated {
  const TaskVersions *task;
  std::vector<std::size_t> versions;
};

std::vector<Imitated> imitated_of(const std::vector<TaskVersions> &tasks, double share) {
  std::vector<Imitated> result;
  for (const TaskVersions &task : tasks)
    if (auto versions = versions_to_imitate(task, share); !versions.empty())
      result.push_back({&task, std::move(versions)});
  return result;
}

Result<Sequence> drawn_sequence(const Imitated &imitated, Environment &environment,
                                const Model &model, double hidden_scores, std::mt19937_64 &random) {
  const TaskVersions &task = *imitated.task;
  const Exemplar &answer =
      task.versions[imitated.versions[draw_index(imitated.versions.size(), random)]];
  const double score = *score_of(answer.measured);
  std::vector<Exemplar> earlier;
  for (const Exemplar &version : task.versions)
    if (version.moves != answer.moves &&
        (!task.timed || score_of(version.measured).value_or(0) < score))
      earlier.push_back(version);
  if (draw_unit(random) < kFirstTrial)
    earlier.resize(std::min<std::size_t>(earlier.size(), 1)); // the unchanged source is first
  const Context context{task.task, task.view, environment.device(),
                        choose_exemplars(earlier, kExemplars, random), earlier};
  PromptOptions options;
  options.hides_scores = draw_unit(random) < hidden_scores;
  return imitation_sequence(*model.vocabulary, model.network->shape().context, context, environment,
                            options, answer.moves,
                            analysis_truth(context.exemplars, task.versions, task.view.original),
                            kAnalysisWeight);
}

Result<std::vector<Sequence>> drawn_batch(const std::vector<Imitated> &tasks, int count,
                                          Environment &environment, const Model &model,
                                          double hidden_scores, std::mt19937_64 &random) {
  std::vector<Sequence> batch;
  float weights = 0;
  for (int i = 0; i < count; ++i) {
    auto sequence = TRY(drawn_sequence(tasks[draw_index(tasks.size(), random)], environment, model,
                                       hidden_scores, random));
    for (const Target &target : sequence.targets)
      weights += target.weight;
    batch.push_back(std::move(sequence));
  }
  for (Sequence &sequence : batch)
    for (Target &target : sequence.targets)
      target.weight /= weights;
  return batch;
}

/// Learning rate: linear warmup, then a cosine down to a tenth.
double rate_at(const SftConfig &config, std::int64_t step) {
  if (step < config.warmup)
    return config.learning_rate * double(step + 1) / double(config.warmup);
  const double done = double(step - config.warmup) / std::max(1, config.steps - config.warmup);
  return config.learning_rate * (0.1 + 0.45 * (1 + std::cos(std::min(1.0, done) * 3.14159265)));
}

/// Mean negative log probability of the targets in `batch`.
double validation_loss(Network &network, const std::vector<Sequence> &batch) {
  double sum = 0;
  const std::vector<float> logs = network.log_probabilities(batch, 1);
  for (const float log : logs)
    sum -= log;
  return sum / std::max<double>(1, double(logs.size()));
}

} // namespace

Result<void> run_sft(const Config &config, const Surroundings &surroundings) {
  auto place = TRY(Workplace::open(config));
  auto training = TRY(task_versions(*place, {Split::Training}));
  // Without validation tasks, the log has no validation loss.
  const auto validation = task_versions(*place, {Split::Validation});
  const std::vector<Imitated> tasks = imitated_of(training, config.sft.top);
  const std::vector<Imitated> judged =
      validation ? imitated_of(*validation, config.sft.top) : std::vector<Imitated>();
  if (tasks.empty())
    return fail("the recorded training tasks have no verified version to imitate",
                "Collect more: warpwright-train collect");
  auto learning =
      TRY(Learning::start(config, "sft", config.sft.weights, vocabulary_words(*place, training)));
  Model &model = learning.model();
  // Verdicts of the answers are known, so masks can have all legal moves, as in real sessions.
  const auto device = place->environment().device();
  RecordedEnvironment known(place->records(), device ? device_key(*device) : "", nullptr,
                            RecordedEnvironment::Masks::Whole);
  Progress progress("sft", "steps", config.sft.steps, surroundings.quiet || !learning.writes());

  while (learning.step() < config.sft.steps && !surroundings.stop.stop_requested()) {
    const auto started = std::chrono::steady_clock::now();
    std::mt19937_64 random = learning.random_of_step();
    auto batch =
        TRY(drawn_batch(tasks, config.sft.batch, known, model, config.sft.hidden_scores, random));
    StepOptions options;
    options.learning_rate = rate_at(config.sft, learning.step());
    options.weight_decay = config.sft.weight_decay;
    const StepReport report = model.network->train(batch, options);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    nlohmann::json fields{{"step", learning.step()},
                          {"loss", report.imitation_loss},
                          {"accuracy_moves", report.imitation_accuracy},
                          {"gradient_norm", report.gradient_norm},
                          {"tokens_per_s", double(report.tokens) / seconds},
                          {"learning_rate", options.learning_rate}};
    if (!judged.empty() && learning.step() % kValidationEvery == 0) {
      std::mt19937_64 fixed(config.run.seed);
      auto unseen =
          TRY(drawn_batch(judged, config.sft.batch, known, model, config.sft.hidden_scores, fixed));
      fields["validation_loss"] = validation_loss(*model.network, unseen);
    }
    TRY(learning.log("step", std::move(fields)));
    const bool last = learning.step() + 1 >= config.sft.steps;
    TRY(learning.finish_step(config.sft.checkpoint_every,
                             last || surroundings.stop.stop_requested()));
    progress.show(learning.step(), "loss " + std::to_string(report.imitation_loss));
  }
  if (surroundings.stop.stop_requested())
    return {};
  TRY(learning.finish());
  return learning.log("done", {{"steps", learning.step()}, {"steps_per_s", progress.per_second()}});
}

} // namespace warpwright::trainer
