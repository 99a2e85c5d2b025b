// The contrastive pair of a prompt: two verified versions whose scores lie apart.
//
// As in CUDA-L1 (Li et al. 2025, section 3.4): versions are put into buckets by score, two distinct buckets are drawn by a softmax over
// their mean scores, and a version uniformly from each. Ours differ in that scores are log ratios, and that the order in the prompt
// is random, so that "which was faster" has to be known. Thread: any.
#pragma once

#include "trainer/policy/policy.h"

#include <random>

namespace warpwright::trainer {

struct ExemplarChoice {
  int buckets = 8;
  double temperature = 0.5; ///< of log ratios
};

/// Two from distinct buckets; one where all score alike; none where nothing was verified.
std::vector<Exemplar> choose_exemplars(const std::vector<Exemplar> &tried,
                                       const ExemplarChoice &choice, std::mt19937_64 &random);

} // namespace warpwright::trainer
