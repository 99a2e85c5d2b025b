// Values in channels-last memory. See channels_last_values.h.
#include "generator/planning/channels_last_values.h"

#include "generator/elements/family.h"
#include "generator/families/registry.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"

#include <algorithm>

namespace warpwright::planning {
namespace {

using model::Node;
using model::Shape;

bool is_image(const Shape &shape) { return shape.size() == 4 || shape.size() == 5; }

bool is_pool(const Node &node) { return node.op.ends_with("_pool"); }

bool is_softmax(const Node &node) { return node.op == op::softmax || node.op == op::log_softmax; }

class Finder {
public:
  Finder(const ops::GraphIndex &graph, const AnchorChoices &choices)
      : index_(graph), choices_(choices) {}

  ChannelsLastValues run() {
    for (const Node &node : index_.graph().nodes)
      if (comes_last(node))
        values_.come.insert(node.name);
    for (std::size_t at = index_.graph().nodes.size(); at-- > 0;)
      if (const Node &node = index_.graph().nodes[at]; stays_last(node))
        values_.stay.insert(node.name);
    turn_parts();
    return std::move(values_);
  }

private:
  /// Returns true where a value is in channels-last memory, or computed from one by an op that can be written so.
  bool comes_last(const Node &node) const {
    if (is_channels_last(node, choices_))
      return true;
    const auto comes = [&](const std::string &input) { return values_.come.contains(input); };
    if (node.inputs.empty() || !is_image(index_.node(node.inputs[0]).type().shape)) {
      // A pointwise node whose first operand is small may have a large one.
      if (!ops::is_pointwise(node) || !is_image(node.type().shape))
        return false;
    }
    if (ops::is_pointwise(node))
      return std::ranges::any_of(node.inputs, [&](const std::string &input) {
        return comes(input) && index_.node(input).type().shape == node.type().shape;
      });
    if (node.op == op::cat)
      return std::ranges::any_of(node.inputs, comes);
    if (node.op == op::slice || node.op == op::pad || node.op == op::upsample_nearest)
      return comes(node.inputs[0]);
    if (by_library(node, choices_) || !comes(node.inputs[0]))
      return false;
    if (is_window(index_, node, choices_))
      return !index_.is_result(node.name);
    return is_turnable_norm(node) || is_softmax(node);
  }

  /// Returns true where a reader of the value profits from channels-last order.
  bool accepts(const Node &user, const std::string &value) const {
    if (is_channels_last(user, choices_))
      return user.inputs[0] == value;
    if (is_turnable_reduction(user))
      return !by_library(user, choices_);
    if (is_window(index_, user, choices_))
      return !by_library(user, choices_) && user.inputs[0] == value;
    if (is_turnable_norm(user))
      return !by_library(user, choices_) && user.inputs[0] == value;
    if (is_softmax(user))
      return values_.come.contains(user.name);
    return values_.stay.contains(user.name) || makes_tokens(user);
  }

  /// Returns true for a view that puts the channels last, as vision models do before they attend to positions.
  bool makes_tokens(const Node &user) const {
    const std::size_t rank = user.type().shape.size();
    if (user.op == op::permute)
      return *ops::list_attribute(user, "dims") == order_of(rank);
    const Shape &image = index_.node(user.inputs[0]).type().shape, &shape = user.type().shape;
    const auto &readers = index_.users(user.name);
    return user.op == op::reshape && rank == 3 && shape[0] == image[0] && shape[1] == image[1] &&
           !index_.is_result(user.name) && !readers.empty() &&
           std::ranges::all_of(readers, [&](const Node *reader) {
             return reader->op == op::permute && makes_tokens(*reader);
           });
  }

  bool stays_last(const Node &node) const {
    if (!values_.come.contains(node.name))
      return false;
    if (is_softmax(node) || is_channels_last(node, choices_))
      return true;
    const auto &users = index_.users(node.name);
    return std::ranges::any_of(users, [&](const Node *user) { return accepts(*user, node.name); });
  }

  /// Adds what only a concatenation in channels-last memory reads: its elements are computed where they are stored.
  void turn_parts() {
    std::set<std::string> parts;
    for (std::size_t at = index_.graph().nodes.size(); at-- > 0;) {
      const Node &node = index_.graph().nodes[at];
      const bool is_part = parts.contains(node.name);
      if (!is_part && (node.op != op::cat || !values_.stay.contains(node.name)))
        continue;
      for (const std::string &name : node.inputs) {
        const Node &input = index_.node(name);
        const auto &users = index_.users(name);
        if (!ops::is_pointwise(input) || !is_image(input.type().shape) || index_.is_result(name) ||
            values_.come.contains(name) || (is_part && input.type().shape != node.type().shape) ||
            std::ranges::any_of(
                users, [&](const Node *user) { return !values_.stay.contains(user->name); }))
          continue;
        parts.insert(name);
        values_.come.insert(name);
        values_.stay.insert(name);
      }
    }
  }

  const ops::GraphIndex &index_;
  const AnchorChoices &choices_;
  ChannelsLastValues values_;
};

} // namespace

bool is_channels_last(const Node &node, const AnchorChoices &choices) {
  const auto choice = choices.find(node.name);
  if (node.op != op::conv || choice == choices.end() || !is_image(node.type().shape))
    return false;
  if (choice->second.family == elements::kLibraryFamily)
    return choice->second.channels_last;
  const elements::Family *family = families::named(choice->second.family);
  return family && family->channels_last;
}

bool keeps_order(const ops::GraphIndex &graph, const Node &node, const AnchorChoices &choices) {
  const auto choice = choices.find(node.name);
  if (node.op != op::conv || choice == choices.end() || !is_image(node.type().shape))
    return false;
  const elements::Family *family = families::named(choice->second.family);
  if (!family || !family->keeps_layout)
    return false;
  const std::int64_t channels = graph.node(node.inputs[0]).type().shape[1];
  return node.type().shape[1] == channels &&
         ops::integer_attribute(node, "groups", 1) == channels &&
         !ops::flag_attribute(node, "transposed");
}

bool is_window(const ops::GraphIndex &graph, const Node &node, const AnchorChoices &choices) {
  return is_pool(node) || keeps_order(graph, node, choices);
}

bool by_library(const Node &node, const AnchorChoices &choices) {
  const auto choice = choices.find(node.name);
  return choice != choices.end() && choice->second.family == elements::kLibraryFamily;
}

/// Excludes argmax over the whole tensor, whose positions would change; positions along one dimension stay.
bool is_turnable_reduction(const Node &node) {
  switch (ops::op_of(node).reduction) {
  case ops::Reduction::None:
    return false;
  case ops::Reduction::ArgMaximum:
  case ops::Reduction::ArgMinimum:
    return ops::list_attribute(node, "dims").value_or(Shape{}).size() == 1;
  default:
    return true;
  }
}

bool is_turnable_norm(const Node &node) {
  if (node.op == op::group_norm)
    return model::is_floating(node.type().dtype) && node.types.size() == 1;
  return node.op == op::batch_norm && ops::flag_attribute(node, "training") &&
         (node.type().dtype == model::Dtype::Float32 || node.type().dtype == model::Dtype::Float64);
}

Shape order_of(std::size_t rank) {
  Shape order{0};
  for (std::size_t d = 2; d < rank; ++d)
    order.push_back(static_cast<std::int64_t>(d));
  order.push_back(1);
  return order;
}

std::int64_t taps_of(const Shape &shape) {
  std::int64_t taps = 1;
  for (std::size_t d = 2; d < shape.size(); ++d)
    taps *= shape[d];
  return taps;
}

ChannelsLastValues channels_last_values(const ops::GraphIndex &graph,
                                        const AnchorChoices &choices) {
  return Finder(graph, choices).run();
}

} // namespace warpwright::planning
