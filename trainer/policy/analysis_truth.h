// Ground truth for a policy's analyses, derived from measurements. Thread: any.
#pragma once

#include "trainer/policy/policy.h"

namespace warpwright::trainer {

/// Answers that an analysis should give. A member is absent where intervals overlap, nothing was timed or there is one
/// exemplar.
struct AnalysisTruth {
  std::optional<int> faster_exemplar;
  /// The move with the largest effect among those in which the exemplars differ; absent if they differ in none. Effect:
  /// mean log score of the versions with the move less that of the others.
  std::optional<std::string> explaining_move;
  std::optional<model::Bound> bound; ///< of the unchanged source
};

/// @param versions all known versions of the task
AnalysisTruth analysis_truth(const std::vector<Exemplar> &exemplars,
                             const std::vector<Exemplar> &versions,
                             const std::optional<Measured> &original);

/// Sorted names of the moves in which two exemplars differ, parameters included.
std::vector<std::string> differing_moves(const std::vector<Exemplar> &exemplars);

/// The analysis as text for hover and code actions.
std::string analysis_text(const Analysis &analysis, const std::vector<Exemplar> &exemplars);

} // namespace warpwright::trainer
