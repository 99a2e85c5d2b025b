// Weights of a ranker that a test can compute by hand.
#pragma once

#include "trainer/ranker/ranker.h"

namespace warpwright::trainer::testing {

/// A ranker that thinks well of vectorize, better of a larger width, and ill of unroll.
inline RankerWeights simple_weights() {
  RankerWeights weights;
  weights.features = {"move.unroll", "move.vectorize", "vectorize.width"};
  constexpr float kAny = std::numeric_limits<float>::lowest();
  const TreeNode unroll[] = {{kAny, 0, 1}, {0, TreeNode::kLeaf, 0}, {-1, TreeNode::kLeaf, 0}};
  const TreeNode width[] = {{kAny, 1, 1},
                            {0, TreeNode::kLeaf, 0},
                            {3, 2, 3},
                            {0.5F, TreeNode::kLeaf, 0},
                            {1, TreeNode::kLeaf, 0}};
  for (Forest *forest : {&weights.order, &weights.speedup.emplace_back()}) {
    forest->add(unroll);
    forest->add(width);
  }
  weights.speedup.push_back(weights.speedup.front());
  const TreeNode rarely[] = {{-3, TreeNode::kLeaf, 0}};
  weights.failure.add(rarely);
  weights.spread_offset = 0.1;
  weights.unsupported_width = 0.3;
  weights.pairs = {{"unroll", "unroll"}, {"unroll", "vectorize"}, {"vectorize", "vectorize"}};
  weights.devices = {""};
  weights.trained_on = "two moves";
  return weights;
}

} // namespace warpwright::trainer::testing
