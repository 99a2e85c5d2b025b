// Values in channels-last memory. See channels_last_values.h.
#include "generator/planning/channels_last_values.h"

#include "generator/elements/family.h"
#include "generator/elements/memory_view.h"
#include "generator/families/registry.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"
#include "generator/planning/layouts.h"

#include <algorithm>

namespace warpwright::planning {
namespace {

using model::Node;
using model::Shape;

bool is_image(const Shape &shape) { return shape.size() == 4 || shape.size() == 5; }

/// True for (N, C, spatial...) with one spatial dimension or more.
bool has_space(const Shape &shape) { return shape.size() == 3 || is_image(shape); }

/// True for a view of memory where the channels lie beside each other, as of tokens that become a signal or an image.
bool views_tokens(const ops::GraphIndex &graph, const Node &node) {
  const Shape &shape = node.type().shape;
  if (!ops::is_view(node) || !has_space(shape) || shape[1] == 1 || taps_of(shape) == 1)
    return false;
  const elements::MemoryView view = elements::view_of(graph, node.name, {});
  return view.root != node.name && view.shape == shape && view.strides[1] == 1;
}

bool is_pool(const Node &node) { return node.op.ends_with("_pool"); }

bool is_softmax(const Node &node) { return node.op == op::softmax || node.op == op::log_softmax; }

class Finder {
public:
  Finder(const ops::GraphIndex &graph, const AnchorChoices &choices)
      : index_(graph), choices_(choices) {}

  ChannelsLastValues run() {
    find_leading();
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
  /// Finds the values from which ops of their shape lead to a convolution that keeps its input's order.
  void find_leading() {
    for (std::size_t at = index_.graph().nodes.size(); at-- > 0;) {
      const Node &node = index_.graph().nodes[at];
      for (const Node *user : index_.users(node.name)) {
        const bool passes = user->op == op::slice || user->op == op::pad || (ops::is_pointwise(*user) && user->type().shape == node.type().shape);
        if ((user->inputs[0] == node.name && keeps_order(index_, *user, choices_)) || (passes && leading_.contains(user->name)))
          leading_.insert(node.name);
      }
    }
  }

  /// Returns true where a value is in channels-last memory, or computed from one by an op that can be written so.
  bool comes_last(const Node &node) const {
    if (is_channels_last(node, choices_) || is_source(node))
      return true;
    const auto comes = [&](const std::string &input) { return values_.come.contains(input); };
    if (node.inputs.empty() || !has_space(index_.node(node.inputs[0]).type().shape)) {
      // A pointwise node whose first operand is small may have a large one.
      if (!ops::is_pointwise(node) || !has_space(node.type().shape))
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

  /// Returns true for the tokens that a convolution reads which keeps their order.
  bool is_source(const Node &node) const { return leading_.contains(node.name) && views_tokens(index_, node); }

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
    return values_.stay.contains(user.name) || makes_tokens(user, value);
  }

  /// Returns true for a view whose rows are channels of a value in channels-last memory, as of positions that attend to
  /// each other, or of heads; also where it is so for all readers of the view.
  bool makes_tokens(const Node &view, const std::string &value) const {
    if (!ops::is_view(view))
      return false;
    const elements::MemoryView seen =
        elements::view_of(index_, view.name, {{value, channels_last_strides(index_.node(value).type().shape)}});
    std::size_t last = seen.shape.size();
    while (last > 0 && seen.shape[last - 1] == 1)
      --last;
    if (seen.root != value || last == 0)
      return false;
    const auto &readers = index_.users(view.name);
    return seen.strides[last - 1] == 1 ||
           (!index_.is_result(view.name) && !readers.empty() &&
            std::ranges::all_of(readers, [&](const Node *reader) { return makes_tokens(*reader, value); }));
  }

  bool stays_last(const Node &node) const {
    if (!values_.come.contains(node.name) || is_source(node)) // a view stays as it is
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
  std::set<std::string> leading_;
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
  if (node.op != op::conv || choice == choices.end() || !has_space(node.type().shape))
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
