// What was measured, as the answers that an analysis should have given. Thread: any.
#pragma once

#include "trainer/policy/policy.h"

namespace warpwright::trainer {

/// Members are absent where measurement does not decide them: intervals that overlap, nothing timed, one exemplar.
struct AnalysisTruth {
  std::optional<int> faster_exemplar;
  /// Among the names in which the two differ the one with the largest effect, which is the mean log score of the versions that have it less that of
  /// the others; absent where no name differs.
  std::optional<std::string> explaining_move;
  std::optional<model::Bound> bound; ///< of the unchanged source
};

/// @param versions all that is known of the task
AnalysisTruth analysis_truth(const std::vector<Exemplar> &exemplars,
                             const std::vector<Exemplar> &versions,
                             const std::optional<Measured> &original);

/// Names of the moves that one of two exemplars has and the other lacks, sorted; parameters that differ count.
std::vector<std::string> differing_moves(const std::vector<Exemplar> &exemplars);

/// The sentences that hover and code actions show.
std::string analysis_text(const Analysis &analysis, const std::vector<Exemplar> &exemplars);

} // namespace warpwright::trainer
