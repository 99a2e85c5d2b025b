// Growth of row regions by trial: a neighbor joins if the
// family's analysis accepts the larger region; see row_regions.h.
#include "generator/families/rows/row_regions.h"

#include "generator/elements/evaluations.h"
#include "generator/families/rows/row_program.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"

#include <algorithm>

namespace warpwright::families::rows {
namespace {

using model::Node;

constexpr std::size_t kMostSeen = 64; ///< values that are searched for reductions that read what a region reads

class Grower {
public:
  Grower(const ops::GraphIndex &graph, const std::string &anchor,
         const std::set<std::string> &taken)
      : graph_(graph), taken_(taken) {
    add_with_items(nodes_, anchor);
    anchor_ = anchor;
  }

  elements::Region run() {
    // A region that the analysis refuses from the start is not grown; its family reports the reason.
    if (!fits(nodes_))
      return elements::region_of(graph_, nodes_, anchor_);
    const std::set<std::string> start = nodes_;
    grow();
    if (auto left = computed_too_often(); !left.empty()) {
      left_out_ = std::move(left);
      nodes_ = start;
      grow();
    }
    return elements::region_of(graph_, nodes_, first_anchor());
  }

private:
  void grow() {
    bool grew = true;
    while (grew) {
      grew = false;
      for (const std::string &candidate : candidates())
        grew |= try_to_add(candidate);
    }
  }

  bool may_join(const Node &node) const {
    if (taken_.contains(node.name) || left_out_.contains(node.name) || nodes_.contains(node.name) ||
        ops::is_buffer_leaf(node))
      return false;
    return ops::is_generated(node) || ops::is_inline(node) || is_row_anchor(node) ||
           node.op == op::item;
  }

  /// Adds the reductions of a value, and of what inline nodes compute from it.
  void add_reductions(const std::string &value, std::set<std::string> &found, std::set<std::string> &seen) const {
    if (seen.size() >= kMostSeen || !seen.insert(value).second)
      return;
    for (const Node *user : graph_.users(value))
      if (is_row_anchor(*user))
        found.insert(user->name);
      else if (ops::is_inline(*user) && !taken_.contains(user->name))
        add_reductions(user->name, found, seen);
  }

  /// Producers, consumers and other reductions of what the region reads, in graph order.
  std::vector<std::string> candidates() const {
    std::set<std::string> found, seen;
    for (const std::string &name : nodes_) {
      for (const std::string &input : graph_.node(name).inputs) {
        found.insert(input);
        if (!ops::is_generated(graph_.node(input)))
          add_reductions(input, found, seen);
      }
      for (const Node *user : graph_.users(name))
        found.insert(user->name);
    }
    std::vector<std::string> result;
    for (const std::string &name : found)
      if (may_join(graph_.node(name)))
        result.push_back(name);
    std::ranges::sort(result, {}, [&](const std::string &name) { return graph_.position(name); });
    return result;
  }

  void add_with_items(std::set<std::string> &nodes, const std::string &name) const {
    nodes.insert(name);
    for (const Node *user : graph_.users(name))
      if (user->op == op::item)
        nodes.insert(user->name);
  }

  bool try_to_add(const std::string &candidate) {
    if (nodes_.size() >= elements::kMostNodes || !may_join(graph_.node(candidate)))
      return false;
    std::set<std::string> trial = nodes_;
    add_with_items(trial, candidate);
    if (!close(trial) || trial.size() > elements::kMostNodes)
      return false;
    const bool is_producer = std::ranges::any_of(
        graph_.users(candidate), [&](const Node *user) { return nodes_.contains(user->name); });
    // A producer with users elsewhere would become an output of this region, which pays only for pointwise nodes.
    if (is_producer && ops::is_inline(graph_.node(candidate)) && goes_out(candidate, trial) &&
        !ops::is_pointwise(graph_.node(candidate)))
      return false;
    if (!fits(trial))
      return false;
    nodes_ = std::move(trial);
    return true;
  }

  /// Producers that cost more to compute for each of their readers than to store once; of a chain of them, the last.
  std::set<std::string> computed_too_often() const {
    std::set<std::string> behind, found; // `behind`: what depends on a reduction of the region
    for (const Node &node : graph_.graph().nodes)
      if (nodes_.contains(node.name) &&
          (is_row_anchor(node) || std::ranges::any_of(node.inputs, [&](const auto &input) {
             return behind.contains(input);
           })))
        behind.insert(node.name);
    const auto is_costly = [&](const std::string &name) {
      if (!nodes_.contains(name) || behind.contains(name) ||
          !ops::is_pointwise(graph_.node(name)) || goes_out(name, nodes_))
        return false;
      return elements::is_computed_too_often(graph_, name, nodes_);
    };
    for (const std::string &name : nodes_)
      if (is_costly(name) && std::ranges::none_of(graph_.users(name), [&](const Node *user) {
            return is_costly(user->name);
          }))
        found.insert(name);
    return found;
  }

  bool goes_out(const std::string &name, const std::set<std::string> &inside) const {
    return graph_.is_result(name) || std::ranges::any_of(graph_.users(name), [&](const Node *user) {
             return !inside.contains(user->name);
           });
  }

  /// Adds the nodes on paths between the nodes, so that the region is convex; false if one of them may not join.
  bool close(std::set<std::string> &nodes) const {
    std::size_t first = graph_.graph().nodes.size(), last = 0;
    for (const std::string &name : nodes) {
      first = std::min(first, graph_.position(name));
      last = std::max(last, graph_.position(name));
    }
    std::set<std::string> below = nodes, above = nodes;
    for (std::size_t i = first; i <= last; ++i) {
      const Node &node = graph_.graph().nodes[i];
      if (std::ranges::any_of(node.inputs,
                              [&](const auto &input) { return below.contains(input); }))
        below.insert(node.name);
    }
    for (std::size_t i = last + 1; i-- > first;) {
      const Node &node = graph_.graph().nodes[i];
      if (above.contains(node.name))
        above.insert(node.inputs.begin(), node.inputs.end());
    }
    for (std::size_t i = first; i <= last; ++i) {
      const Node &node = graph_.graph().nodes[i];
      if (nodes.contains(node.name) || !below.contains(node.name) || !above.contains(node.name))
        continue;
      if (!may_join(node))
        return false;
      add_with_items(nodes, node.name);
    }
    return true;
  }

  bool fits(const std::set<std::string> &nodes) const {
    return make_row_program(graph_, elements::region_of(graph_, nodes, anchor_)).has_value();
  }

  std::string first_anchor() const {
    std::string first = anchor_;
    for (const std::string &name : nodes_)
      if (is_row_anchor(graph_.node(name)) && graph_.position(name) < graph_.position(first))
        first = name;
    return first;
  }

  const ops::GraphIndex &graph_;
  const std::set<std::string> &taken_;
  std::set<std::string> left_out_; ///< values that are stored before the region
  std::set<std::string> nodes_;
  std::string anchor_;
};

} // namespace

bool is_row_anchor(const Node &node) {
  if (node.op == op::batch_norm)
    return ops::flag_attribute(node, "training");
  return is_plain_reduction(node.op) || node.op == op::softmax || node.op == op::log_softmax ||
         node.op == op::layer_norm || node.op == op::group_norm || node.op == op::logsumexp ||
         node.op == op::norm;
}

elements::Region grow_row_region(const ops::GraphIndex &graph, const std::string &anchor,
                                 const std::set<std::string> &taken) {
  return Grower(graph, anchor, taken).run();
}

} // namespace warpwright::families::rows
