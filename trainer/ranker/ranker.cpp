#include "trainer/ranker/ranker.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {
namespace {

std::size_t cost_of(const Forest &forest) { return forest.trees() * std::size_t(forest.depth()); }

} // namespace

double corrected(const Correction &own, const Moves &moves, std::span<const float> row) {
  std::set<std::string> names;
  for (const std::string &move : moves)
    names.emplace(parsed_move(move).name);
  double sum = own.trees.value(row);
  for (const std::string &name : names)
    if (const auto found = own.moves.find(name); found != own.moves.end())
      sum += found->second;
  return sum;
}

MeanAndSpread mean_and_spread(std::span<const Forest> forests, std::span<const float> row) {
  double sum = 0, squares = 0;
  for (const Forest &forest : forests) {
    const double value = forest.value(row);
    sum += value;
    squares += value * value;
  }
  const double count = std::max(1.0, double(forests.size())), mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean))};
}

MovePairs pairs_of(const Moves &moves) {
  std::vector<std::string> names;
  for (const std::string &move : moves)
    names.emplace_back(parsed_move(move).name);
  std::ranges::sort(names);
  MovePairs pairs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    pairs.emplace(names[i], names[i]);
    for (std::size_t j = i + 1; j < names.size(); ++j)
      pairs.emplace(names[i], names[j]);
  }
  return pairs;
}

Ranker::Ranker(RankerWeights weights) : weights_(std::move(weights)), columns_(weights_.features) {}

Ranker::Rows::Rows(const FeatureColumns &columns, const Forest &order, TaskFacts task)
    : columns_(columns), task_(std::move(task)), base_(columns.size(), kAbsent) {
  columns_.fill(task_.numbers, base_);
  unchanged_ = order.value(row({}));
}

std::vector<float> Ranker::Rows::row(const Moves &moves, const CompileFacts *compiled) const {
  std::vector<float> row = base_;
  columns_.fill(candidate_numbers(task_, moves, compiled), row);
  return row;
}

bool Ranker::supported(const Rows &rows, const Moves &moves) const {
  return weights_.devices.contains(rows.task().device) &&
         std::ranges::all_of(pairs_of(moves),
                             [&](const auto &pair) { return weights_.pairs.contains(pair); });
}

double Ranker::order(const Rows &rows, const Moves &moves) const {
  return weights_.order.value(rows.row(moves)) - rows.unchanged();
}

Prediction Ranker::predict(const Rows &rows, const Moves &moves, const CompileFacts *compiled,
                           const Correction *own) const {
  const std::vector<float> row = rows.row(moves, compiled);
  Prediction prediction;
  prediction.order = weights_.order.value(row) - rows.unchanged();
  prediction.supported = supported(rows, moves);
  const MeanAndSpread speedup = mean_and_spread(weights_.speedup, row);
  prediction.log_speedup = weights_.order_slope * prediction.order +
                           weights_.mean_slope * speedup.mean +
                           (own ? corrected(*own, moves, row) : 0);
  prediction.half_width = weights_.spread_scale * (speedup.spread + weights_.spread_offset) +
                          (prediction.supported ? 0 : weights_.unsupported_width);
  prediction.verifies = 1 / (1 + std::exp(double(weights_.failure.value(row))));
  return prediction;
}

std::size_t Ranker::order_cost() const { return cost_of(weights_.order); }

std::size_t Ranker::predict_cost() const {
  std::size_t cost = order_cost() + cost_of(weights_.failure);
  for (const Forest &forest : weights_.speedup)
    cost += cost_of(forest);
  return cost;
}

} // namespace warpwright::trainer
