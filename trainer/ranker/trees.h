// Regression trees in plain arrays: a forest's value of a row of features is the sum of one leaf of
// each tree.
//
// A row is a list of floats; an absent feature is NaN and goes to the left, like the smallest
// value. A tree of depth d costs d comparisons, so a forest's cost is known before it runs. Thread:
// any, after construction.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace warpwright::trainer {

inline constexpr float kAbsent = std::numeric_limits<float>::quiet_NaN();

/// A node of 8 bytes. A split sends rows with feature > threshold to node `left` + 1, all others to
/// `left`.
struct TreeNode {
  static constexpr std::uint16_t kLeaf = 0xffff;
  float threshold = 0; ///< of a leaf: its value
  std::uint16_t feature = kLeaf;
  std::uint16_t left = 0; ///< index from the tree's root
  bool operator==(const TreeNode &) const = default;
};

class Forest {
public:
  /// Appends a tree, whose children come after their parents.
  void add(std::span<const TreeNode> tree);

  float value(std::span<const float> row) const;
  std::size_t trees() const { return roots_.size(); }
  const std::vector<TreeNode> &nodes() const { return nodes_; }
  const std::vector<std::uint32_t> &roots() const { return roots_; }
  /// Most comparisons that a row can take in one tree.
  int depth() const;

  /// A forest from its arrays. Errors: an index outside the arrays, a child before its parent, a
  /// feature that is not below `features`, a number that is not finite.
  static Result<Forest> checked(std::vector<TreeNode> nodes, std::vector<std::uint32_t> roots,
                                std::size_t features);
  bool operator==(const Forest &) const = default;

private:
  std::vector<TreeNode> nodes_;
  std::vector<std::uint32_t> roots_; ///< index of each tree's first node
};

} // namespace warpwright::trainer
