// See channels_last_work.h.
#include "generator/planning/channels_last_work.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/planning/layouts.h"

#include <algorithm>

namespace warpwright::planning {

using model::Node;
using model::Shape;
using model::TensorType;

Shape permuted(const Shape &values, const Shape &order) {
  Shape result;
  for (const std::int64_t d : order)
    result.push_back(values[static_cast<std::size_t>(d)]);
  return result;
}

namespace {

Shape inverse(const Shape &order) {
  Shape result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    result[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return result;
}

/// Returns the new place of a dimension of (N, C, spatial...).
std::int64_t moved(std::int64_t dim, std::size_t rank) {
  return dim == 0 ? 0 : dim == 1 ? static_cast<std::int64_t>(rank) - 1 : dim - 1;
}

} // namespace

model::Graph Turner::run() {
  result_.outputs = index_.graph().outputs;
  result_.updates = index_.graph().updates;
  for (const Node &node : index_.graph().nodes)
    if (ops::is_buffer_leaf(node))
      result_.nodes.push_back(node);
  turn_weights();
  for (const Node &node : index_.graph().nodes)
    if (!ops::is_buffer_leaf(node) && !early_.contains(node.name))
      write(node);
  const auto own = [&](std::string &value) {
    if (whole_results_.contains(value))
      return;
    value = shown(value);
    if (over_last_.contains(value) || is_conv(value))
      value = contiguous(value);
  };
  for (std::string &output : result_.outputs)
    own(output);
  for (model::Update &update : result_.updates)
    own(update.value);
  return std::move(result_);
}

bool Turner::is_conv(const std::string &name) const {
  const auto known = std::ranges::find(index_.graph().nodes, name, &Node::name);
  return known != index_.graph().nodes.end() && is_channels_last(*known, choices_);
}

std::string Turner::emit(const std::string &name, const std::string &op,
                         std::vector<std::string> inputs, TensorType type,
                         model::Attributes attributes) {
  result_.nodes.push_back({name, op, std::move(inputs), std::move(attributes), {std::move(type)}});
  return name;
}

std::string Turner::shown(const std::string &value) const {
  const auto other = shown_.find(value);
  return other == shown_.end() ? value : other->second;
}

std::string Turner::first(const std::string &value) {
  const std::string name = shown(value);
  if (!over_last_.contains(name))
    return name;
  const auto [known, added] = firsts_.try_emplace(name, name + "__first");
  if (added) {
    const TensorType &type = index_.node(value).type();
    emit(known->second, op::permute, {name}, {type.dtype, type.shape, {}},
         {{"dims", inverse(order_of(type.shape.size()))}, {std::string(kTurned), true}});
  }
  return known->second;
}

std::string Turner::last(const std::string &value, std::size_t rank, bool broadcasts) {
  const TensorType &type = index_.node(value).type();
  if (over_last_.contains(shown(value)))
    return shown(value);
  if (broadcasts && model::elements_of(type.shape) == 1)
    return first(value);
  const std::string key = value + (broadcasts ? "__broadcast" : "__last") + std::to_string(rank);
  const auto [known, added] = lasts_.try_emplace(key, key);
  if (!added)
    return known->second;
  std::string operand = lies_beside(value) ? laid_out(value) : first(value);
  Shape full(rank - type.shape.size(), 1);
  full.insert(full.end(), type.shape.begin(), type.shape.end());
  if (broadcasts && full[1] == model::elements_of(full))
    return emit(known->second, op::reshape, {operand}, {type.dtype, {full[1]}, {}});
  if (full.size() != type.shape.size())
    operand = emit(key + "__wide", op::reshape, {operand}, {type.dtype, full, {}});
  const Shape order = order_of(rank);
  return emit(known->second, op::permute, {operand}, {type.dtype, permuted(full, order), {}},
              {{"dims", order}, {std::string(kTurned), true}});
}

bool Turner::lies_beside(const std::string &value) const {
  return std::ranges::any_of(index_.users(value), [&](const Node *user) {
    return is_channels_last(*user, choices_) && user->inputs[0] == value;
  });
}

std::string Turner::contiguous(const std::string &value) {
  const bool turned = over_last_.contains(value);
  const TensorType &type = turned ? over_last_.at(value) : index_.node(value).type();
  const std::string name = value + "__contiguous";
  if (std::ranges::find(result_.nodes, name, &Node::name) != result_.nodes.end())
    return name;
  if (!turned)
    return emit(name, op::reshape, {value}, {type.dtype, type.shape, {}});
  const Shape back = inverse(order_of(type.shape.size()));
  return emit(name, op::permute, {value}, {type.dtype, permuted(type.shape, back), {}},
              {{"dims", back}});
}

void Turner::write(const Node &node) {
  if (is_channels_last(node, choices_)) {
    Node turned = node;
    for (std::size_t i = 0; i < turned.inputs.size(); ++i)
      turned.inputs[i] = i < 2 ? laid_out(turned.inputs[i]) : first(turned.inputs[i]);
    result_.nodes.push_back(std::move(turned));
  } else if (node.op == op::item && normalised_.contains(node.inputs[0])) {
    write_running(node);
  } else if (is_turnable_norm(node) && !by_library(node, choices_) &&
             values_.come.contains(node.inputs[0])) {
    write_norm(node);
  } else if (is_turnable_reduction(node) && !by_library(node, choices_) &&
             values_.come.contains(node.inputs[0])) {
    write_reduction(node);
  } else if (values_.stay.contains(node.name) && !is_window(index_, node, choices_)) {
    write_last(node);
  } else {
    Node same = node;
    for (std::string &input : same.inputs)
      input = first(input);
    if (values_.stay.contains(node.name))
      same.attributes[std::string(kChannelsLast)] = true;
    result_.nodes.push_back(std::move(same));
  }
}

void Turner::write_last(const Node &node) {
  const std::size_t rank = node.type().shape.size();
  const Shape order = order_of(rank);
  Node turned = node;
  turned.types = {{node.type().dtype, permuted(node.type().shape, order), {}}};
  for (std::string &input : turned.inputs)
    input = last(input, rank, ops::is_pointwise(node));
  if (ops::find_attribute(node, "dim"))
    turned.attributes["dim"] = moved(ops::integer_attribute(node, "dim"), rank);
  for (const char *list : {"low", "high", "scales"})
    if (auto sizes = ops::list_attribute(node, list)) {
      sizes->insert(sizes->begin(), rank - sizes->size(), 1); // scales may be those of space alone
      turned.attributes[list] = permuted(*sizes, order);
    }
  over_last_.emplace(node.name, turned.type());
  result_.nodes.push_back(std::move(turned));
}

void Turner::write_reduction(const Node &node) {
  const std::string &operand = node.inputs[0];
  const Shape &shape = index_.node(operand).type().shape;
  const std::size_t rank = shape.size();
  const Shape reduced = ops::reduced_dims(node, rank);
  Shape dims, kept, kept_shape;
  for (const std::int64_t dim : reduced)
    dims.push_back(moved(dim, rank));
  std::ranges::sort(dims);
  for (const std::int64_t dim : order_of(rank))
    if (std::ranges::find(reduced, dim) == reduced.end()) {
      kept.push_back(dim);
      kept_shape.push_back(shape[static_cast<std::size_t>(dim)]);
    }
  Node turned = node;
  turned.inputs = {last(operand, rank)};
  turned.attributes["dims"] = dims;
  turned.attributes["keepdim"] = false;
  turned.types = {{node.type().dtype, kept_shape, {}}};
  result_.nodes.push_back(std::move(turned));
  std::string value = node.name;
  if (!std::ranges::is_sorted(kept)) {
    // Dimension i of the module's result is where kept[...] is the i-th largest.
    Shape dims_back(kept.size()), sorted = kept;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i)
      dims_back[i] = std::ranges::find(kept, sorted[i]) - kept.begin();
    value = emit(node.name + "__ordered", op::permute, {value},
                 {node.type().dtype, permuted(kept_shape, dims_back), {}}, {{"dims", dims_back}});
  }
  if (value == node.name)
    whole_results_.insert(node.name);
  if (ops::flag_attribute(node, "keepdim"))
    value = emit(node.name + "__kept", op::reshape, {value},
                 {node.type().dtype, node.type().shape, {}});
  if (value != node.name)
    shown_.emplace(node.name, value);
}

model::Graph with_channels_last(const model::Graph &graph, const AnchorChoices &choices) {
  Turner turner(graph, choices);
  return turner.turns_none() ? graph : turner.run();
}

} // namespace warpwright::planning
