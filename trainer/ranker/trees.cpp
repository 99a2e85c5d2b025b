#include "trainer/ranker/trees.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {
namespace {

int depth_below(std::span<const TreeNode> tree, std::size_t node) {
  if (tree[node].feature == TreeNode::kLeaf)
    return 0;
  return 1 + std::max(depth_below(tree, tree[node].left), depth_below(tree, tree[node].left + 1u));
}

/// Number of the tree's nodes, each reached once; nullopt if it is no tree. Iterative, because
/// files are not trusted.
bool is_tree(std::span<const TreeNode> tree, std::size_t features) {
  std::vector<bool> is_child(tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const TreeNode &node = tree[i];
    if (!std::isfinite(node.threshold))
      return false;
    if (node.feature == TreeNode::kLeaf)
      continue;
    const std::size_t left = node.left;
    if (node.feature >= features || left <= i || left + 1 >= tree.size() || is_child[left] ||
        is_child[left + 1])
      return false;
    is_child[left] = is_child[left + 1] = true;
  }
  return !tree.empty() && std::count(is_child.begin(), is_child.end(), false) == 1 && !is_child[0];
}

} // namespace

void Forest::add(std::span<const TreeNode> tree) {
  roots_.push_back(std::uint32_t(nodes_.size()));
  nodes_.insert(nodes_.end(), tree.begin(), tree.end());
}

float Forest::value(std::span<const float> row) const {
  double sum = 0;
  for (const std::uint32_t root : roots_) {
    const TreeNode *node = &nodes_[root];
    while (node->feature != TreeNode::kLeaf)
      node = &nodes_[root + node->left + (row[node->feature] > node->threshold ? 1u : 0u)];
    sum += node->threshold;
  }
  return float(sum);
}

int Forest::depth() const {
  int deepest = 0;
  for (const std::uint32_t root : roots_)
    deepest = std::max(deepest, depth_below(std::span(nodes_).subspan(root), 0));
  return deepest;
}

Result<Forest> Forest::checked(std::vector<TreeNode> nodes, std::vector<std::uint32_t> roots,
                               std::size_t features) {
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const std::size_t begin = roots[i], end = i + 1 < roots.size() ? roots[i + 1] : nodes.size();
    if ((i == 0 && begin != 0) || begin >= end || end > nodes.size() ||
        !is_tree(std::span(nodes).subspan(begin, end - begin), features))
      return fail("tree " + std::to_string(i) + " is damaged");
  }
  if (roots.empty() && !nodes.empty())
    return fail("there are nodes without a tree");
  Forest forest;
  forest.nodes_ = std::move(nodes);
  forest.roots_ = std::move(roots);
  return forest;
}

} // namespace warpwright::trainer
