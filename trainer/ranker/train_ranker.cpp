#include "trainer/ranker/train_ranker.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warpwright::trainer {
namespace {

using Tasks = std::vector<const RankedTask *>;

constexpr double kNoise =
    0.015; ///< of a log speedup: the median interval of the records is 1.65% wide
constexpr double kHuberWidth = 0.5;   ///< in units of the log speedup
constexpr double kMostLog = 3.5;      ///< larger speedups say no more about other tasks
constexpr std::size_t kForests = 4;   ///< that predict speedups
constexpr std::size_t kFolds = 4;     ///< of the sources, to find the width of intervals
constexpr double kInside = 0.9;       ///< share of new sources that an interval holds
constexpr double kDefaultWidth = 0.5; ///< of unsupported candidates, where the folds have too few
constexpr std::size_t kEnough = 20;

/// Examples in rows, by task. The first row of a task is its unchanged source.
struct Examples {
  Matrix32 rows;
  std::vector<float> targets, failures, weights;
  std::vector<RowGroup> groups;
  std::vector<const RankedTask *> tasks; ///< by group
  std::vector<std::size_t> sources;      ///< by row: number of the source
  std::vector<bool> measured;            ///< by row: a verdict with a time, or the unchanged source
};

MovePairs pairs_in(const RankedTask &task) {
  MovePairs pairs;
  for (const RecordedCandidate &candidate : task.candidates)
    pairs.merge(pairs_of(candidate.moves));
  return pairs;
}

/// Names of all features that differ between two rows.
std::vector<std::string> feature_names(const Tasks &tasks) {
  struct Range {
    float first = 0;
    std::size_t count = 0;
    bool differs = false;
  };
  std::map<std::string, Range> ranges;
  std::size_t rows = 0;
  const auto take = [&](const NamedNumbers &numbers, std::size_t times) {
    for (const auto &[name, value] : numbers) {
      Range &range = ranges[name];
      if (range.count == 0)
        range.first = value;
      range.differs |= range.first != value;
      range.count += times;
    }
  };
  for (const RankedTask *task : tasks) {
    take(task->facts.numbers, task->candidates.size());
    for (const RecordedCandidate &candidate : task->candidates) {
      const CompileFacts compiled = compile_facts(candidate.measured);
      take(candidate_numbers(task->facts, candidate.moves, &compiled), 1);
    }
    rows += task->candidates.size();
  }
  std::vector<std::string> names;
  for (const auto &[name, range] : ranges)
    if (range.differs || range.count != rows)
      names.push_back(name);
  return names;
}

void add_row(Examples &examples, std::vector<float> row, double target, bool failed, bool measured,
             double weight, std::size_t source) {
  examples.rows.add(row);
  examples.targets.push_back(float(std::clamp(target, -kMostLog, kMostLog)));
  examples.failures.push_back(failed ? 1 : 0);
  examples.weights.push_back(float(weight));
  examples.measured.push_back(measured);
  examples.sources.push_back(source);
}

Examples examples_of(const Tasks &tasks, const FeatureColumns &columns) {
  std::map<std::string, std::size_t> sources;
  for (const RankedTask *task : tasks)
    sources.emplace(task->source, 0);
  std::size_t number = 0;
  for (auto &[source, place] : sources)
    place = number++;
  Examples examples;
  examples.rows.columns = columns.size();
  for (const RankedTask *task : tasks) {
    const Ranker::Rows rows(columns, {}, task->facts);
    const double weight = 1 / std::sqrt(double(task->candidates.size()));
    const std::size_t begin = examples.targets.size(), source = sources.at(task->source);
    add_row(examples, rows.row({}), 0, false, true, weight, source);
    for (const RecordedCandidate &candidate : task->candidates)
      add_row(examples, rows.row(candidate.moves), candidate.log_speedup, candidate.score <= 0,
              candidate.measured.speedup.has_value(), weight, source);
    examples.groups.push_back({begin, examples.targets.size(), weight});
    examples.tasks.push_back(task);
  }
  return examples;
}

/// Forests of the speedup, each on half of the sources that `uses` accepts.
std::vector<Forest> train_speedup(const Examples &examples, const RankerTraining &training,
                                  const std::function<bool(std::size_t source)> &uses) {
  std::vector<Forest> forests;
  for (std::size_t k = 0; k < kForests; ++k) {
    std::vector<float> weights = examples.weights;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::size_t part = (examples.sources[i] / kFolds + k) % kForests;
      if (!examples.measured[i] || !uses(examples.sources[i]) || part >= kForests / 2)
        weights[i] = 0;
    }
    BoostingSettings settings = training.speedup;
    settings.seed = training.seed + 1 + k;
    forests.push_back(
        boost(examples.rows, huber_loss(examples.targets, weights, kHuberWidth), settings));
  }
  return forests;
}

/// What a fold's forests say of a candidate of a source that they did not see.
struct Unseen {
  double order = 0, mean = 0, spread = 0, target = 0, weight = 1;
  bool supported = true;
};

/// The smallest value that `share` of the weights does not exceed.
double weighted_quantile(std::vector<std::pair<double, double>> values, double share) {
  std::ranges::sort(values);
  double total = 0, sum = 0;
  for (const auto &[value, weight] : values)
    total += weight;
  for (const auto &[value, weight] : values)
    if ((sum += weight) >= share * total)
      return value;
  return values.empty() ? 0 : values.back().first;
}

Forest train_order(const Examples &examples, std::vector<RowGroup> groups,
                   const RankerTraining &training) {
  BoostingSettings settings = training.order;
  settings.seed = training.seed;
  return boost(examples.rows, pairwise_loss(examples.targets, std::move(groups), kNoise), settings);
}

void add_unseen(std::vector<Unseen> &unseen, const Examples &examples, std::size_t group,
                const Forest &order, const std::vector<Forest> &speedup, const MovePairs &pairs) {
  const auto [begin, end, weight] = examples.groups[group];
  const double unchanged = order.value(examples.rows.row(begin));
  for (std::size_t i = begin + 1; i < end; ++i) {
    if (!examples.measured[i])
      continue;
    const auto row = examples.rows.row(i);
    const MeanAndSpread of = mean_and_spread(speedup, row);
    const Moves &moves = examples.tasks[group]->candidates[i - begin - 1].moves;
    unseen.push_back({order.value(row) - unchanged, of.mean, of.spread, examples.targets[i],
                      1 / double(end - begin - 1), std::ranges::includes(pairs, pairs_of(moves))});
  }
}

std::vector<Unseen> unseen_of(const Examples &examples, const RankerTraining &training) {
  std::vector<Unseen> unseen;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    const auto seen = [&](std::size_t source) { return source % kFolds != fold; };
    std::vector<RowGroup> groups;
    MovePairs pairs;
    for (std::size_t g = 0; g < examples.groups.size(); ++g)
      if (seen(examples.sources[examples.groups[g].begin])) {
        groups.push_back(examples.groups[g]);
        pairs.merge(pairs_in(*examples.tasks[g]));
      }
    const Forest order = train_order(examples, std::move(groups), training);
    const std::vector<Forest> speedup = train_speedup(examples, training, seen);
    for (std::size_t g = 0; g < examples.groups.size(); ++g)
      if (!seen(examples.sources[examples.groups[g].begin]))
        add_unseen(unseen, examples, g, order, speedup, pairs);
  }
  return unseen;
}

/// The slopes of log_speedup by least squares.
void mix(RankerWeights &weights, const std::vector<Unseen> &unseen) {
  double oo = 1e-6, om = 0, mm = 1e-6, ot = 0, mt = 0; // sums of products of order, mean and target
  for (const Unseen &one : unseen) {
    oo += one.weight * one.order * one.order;
    om += one.weight * one.order * one.mean;
    mm += one.weight * one.mean * one.mean;
    ot += one.weight * one.order * one.target;
    mt += one.weight * one.mean * one.target;
  }
  const double determinant = oo * mm - om * om;
  weights.order_slope = determinant > 0 ? (ot * mm - mt * om) / determinant : 0;
  weights.mean_slope = determinant > 0 ? (mt * oo - ot * om) / determinant : 1;
  if (weights.order_slope < 0 || weights.mean_slope < 0) { // one alone
    const bool by_order = ot * ot / oo > mt * mt / mm;
    weights.order_slope = by_order ? std::max(0.0, ot / oo) : 0;
    weights.mean_slope = by_order ? 0 : std::max(0.0, mt / mm);
  }
}

/// Sets the width of intervals so that kInside of the candidates of unseen sources lie inside.
void calibrate(RankerWeights &weights, const std::vector<Unseen> &unseen) {
  std::vector<std::pair<double, double>> spreads, ratios, beyond;
  for (const Unseen &one : unseen)
    spreads.emplace_back(one.spread, one.weight);
  weights.spread_offset = std::max(1e-3, weighted_quantile(spreads, 0.5));
  const auto error = [&](const Unseen &one) {
    return std::abs(weights.order_slope * one.order + weights.mean_slope * one.mean - one.target);
  };
  for (const Unseen &one : unseen)
    if (one.supported)
      ratios.emplace_back(error(one) / (one.spread + weights.spread_offset), one.weight);
  weights.spread_scale = weighted_quantile(ratios, kInside);
  for (const Unseen &one : unseen)
    if (!one.supported)
      beyond.emplace_back(error(one) - weights.spread_scale * (one.spread + weights.spread_offset),
                          one.weight);
  weights.unsupported_width =
      beyond.size() < kEnough ? kDefaultWidth : std::max(0.0, weighted_quantile(beyond, kInside));
}

Forest train_failure(const Examples &examples, const RankerTraining &training) {
  double failures = 1, rows = 2; // of which one failed: no share is 0 or 1
  for (const float failure : examples.failures)
    failures += failure, ++rows;
  const TreeNode start{.threshold = float(std::log(failures / (rows - failures)))};
  BoostingSettings settings = training.failure;
  settings.seed = training.seed + 100;
  const std::vector<float> starts(examples.targets.size(), start.threshold);
  const Forest boosted =
      boost(examples.rows, logistic_loss(examples.failures, examples.weights), settings, starts);
  Forest forest;
  forest.add(std::span(&start, 1));
  for (std::size_t i = 0; i < boosted.trees(); ++i) {
    const std::size_t begin = boosted.roots()[i];
    const std::size_t end =
        i + 1 < boosted.trees() ? boosted.roots()[i + 1] : boosted.nodes().size();
    forest.add(std::span(boosted.nodes()).subspan(begin, end - begin));
  }
  return forest;
}

} // namespace

RankerWeights train_ranker(const Tasks &tasks, const RankerTraining &training) {
  RankerWeights weights;
  weights.features = feature_names(tasks);
  const FeatureColumns columns(weights.features);
  const Examples examples = examples_of(tasks, columns);
  weights.order = train_order(examples, examples.groups, training);
  weights.speedup = train_speedup(examples, training, [](std::size_t) { return true; });
  weights.failure = train_failure(examples, training);
  for (const RankedTask *task : tasks) {
    weights.pairs.merge(pairs_in(*task));
    weights.devices.insert(task->facts.device);
  }
  const std::vector<Unseen> unseen = unseen_of(examples, training);
  mix(weights, unseen);
  calibrate(weights, unseen);
  return weights;
}

MoveTable::MoveTable(const Tasks &tasks) {
  for (const RankedTask *task : tasks)
    for (const RecordedCandidate &candidate : task->candidates) {
      const double log = candidate.log_speedup;
      Mean &list = lists_[candidate.moves];
      list.sum += log, ++list.count;
      all_.sum += log, ++all_.count;
      for (const std::string &move : candidate.moves) {
        Mean &one = moves_[move];
        one.sum += log, ++one.count;
      }
    }
}

double MoveTable::value(const Moves &moves) const {
  constexpr double kPrior = 3; // records that a mean must have to count as much as its prior
  const double overall = all_.count > 0 ? all_.sum / all_.count : 0;
  double sum = 0;
  for (const std::string &move : moves) {
    const auto found = moves_.find(move);
    const Mean mean = found == moves_.end() ? Mean{} : found->second;
    sum += (mean.sum + kPrior * overall) / (mean.count + kPrior);
  }
  const double prior = moves.empty() ? 0 : sum / double(moves.size());
  const auto found = lists_.find(moves);
  const Mean mean = found == lists_.end() ? Mean{} : found->second;
  return (mean.sum + kPrior * prior) / (mean.count + kPrior);
}

} // namespace warpwright::trainer
