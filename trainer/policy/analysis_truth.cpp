#include "trainer/policy/analysis_truth.h"

#include "trainer/environment/walk.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warpwright::trainer {
namespace {

bool has(const Exemplar &version, const std::string &name) {
  return std::ranges::any_of(version.moves,
                             [&](const std::string &move) { return move_name(move) == name; });
}

std::optional<double> effect_of(const std::string &name, const std::vector<Exemplar> &versions) {
  double sums[2] = {0, 0}, counts[2] = {0, 0};
  for (const Exemplar &version : versions) {
    const double score = score_of(version.measured).value_or(0);
    if (score <= 0)
      continue;
    sums[has(version, name)] += std::log(score);
    ++counts[has(version, name)];
  }
  if (counts[0] == 0 || counts[1] == 0)
    return std::nullopt;
  return sums[1] / counts[1] - sums[0] / counts[0];
}

/// Ratio of device times; exactly 1 for the unchanged source.
std::optional<MeasuredRatio> interval_of(const Exemplar &exemplar) {
  if (exemplar.moves.empty() && exemplar.plan.empty() && exemplar.measured.speedup)
    return MeasuredRatio{1, 1, 1, 0};
  return exemplar.measured.speedup;
}

} // namespace

std::vector<std::string> differing_moves(const std::vector<Exemplar> &exemplars) {
  std::set<std::string> names;
  if (exemplars.size() < 2)
    return {};
  for (int i = 0; i < 2; ++i)
    for (const std::string &move : exemplars[std::size_t(i)].moves)
      if (const Moves &other = exemplars[std::size_t(1 - i)].moves;
          std::ranges::find(other, move) == other.end())
        names.insert(move_name(move));
  return {names.begin(), names.end()};
}

AnalysisTruth analysis_truth(const std::vector<Exemplar> &exemplars,
                             const std::vector<Exemplar> &versions,
                             const std::optional<Measured> &original) {
  AnalysisTruth truth;
  if (original)
    truth.bound = original->reference_bound;
  if (exemplars.size() < 2)
    return truth;
  const auto first = interval_of(exemplars[0]), second = interval_of(exemplars[1]);
  if (!first || !second)
    return truth;
  if (first->low > second->high)
    truth.faster_exemplar = 0;
  if (second->low > first->high)
    truth.faster_exemplar = 1;
  double largest = -1;
  for (const std::string &name : differing_moves(exemplars))
    if (const auto effect = effect_of(name, versions); effect && std::abs(*effect) > largest) {
      largest = std::abs(*effect);
      truth.explaining_move = name;
    }
  return truth;
}

std::string analysis_text(const Analysis &analysis, const std::vector<Exemplar> &exemplars) {
  std::string text;
  if (analysis.bound == model::Bound::Memory)
    text = "The kernel is held back by memory traffic.";
  if (analysis.bound == model::Bound::Compute)
    text = "The kernel is held back by arithmetic.";
  if (analysis.bound == model::Bound::Latency)
    text = "The kernel is held back by latency: neither memory nor arithmetic is busy.";
  if (analysis.faster_exemplar && exemplars.size() == 2) {
    const Moves &faster = exemplars[std::size_t(*analysis.faster_exemplar)].moves;
    std::string made;
    for (const std::string &move : faster)
      made += (made.empty() ? "" : ", ") + move;
    text += std::string(text.empty() ? "" : " ") + "Of two earlier versions the one with " +
            (made.empty() ? "no change" : made) + " is the faster";
    if (analysis.explaining_move && *analysis.explaining_move != "none")
      text += ", mostly because of " + *analysis.explaining_move;
    text += ".";
  }
  return text;
}

} // namespace warpwright::trainer
