// Contrastive pair of a prompt: two verified versions whose scores differ.
//
// As in CUDA-L1 (Li et al. 2025, section 3.4), versions are put into buckets by score, two buckets are drawn by a
// softmax over their mean scores, and one version uniformly from each. Unlike there, scores are log ratios, and the
// order in the prompt is random, so that the policy must know which version was faster. Thread: any.
#pragma once

#include "trainer/policy/policy.h"

#include <random>

namespace warpwright::trainer {

struct ExemplarChoice {
  int buckets = 8;
  double temperature = 0.5; ///< of log ratios
};

/// Two versions from distinct buckets; one if all scores are alike; none if no version was verified.
std::vector<Exemplar> choose_exemplars(const std::vector<Exemplar> &tried,
                                       const ExemplarChoice &choice, std::mt19937_64 &random);

} // namespace warpwright::trainer
