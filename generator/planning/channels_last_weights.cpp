// Weights of channels-last convolutions. See channels_last_work.h.
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

namespace {

/// Limit of weights in one kernel: each takes two or three pointers, and parameters have room for 4 KB.
constexpr std::size_t kMostWeights = 128;
/// Limit of taps that a block of that kernel holds.
constexpr std::int64_t kMostTaps = 4096;

/// Returns true for strides of (N, C, spatial...) with C fastest, whatever those of dimensions of extent 1 are.
bool has_last_strides(const elements::MemoryView &view) {
  const Shape strides = channels_last_strides(view.shape);
  for (std::size_t d = 0; d < view.shape.size(); ++d)
    if (view.shape[d] != 1 && view.strides[d] != strides[d])
      return false;
  return true;
}

} // namespace

bool Turner::lies_last(const elements::MemoryView &view) const {
  const Node &root = index_.node(view.root);
  // Pointwise values and products that do not stay channels-last themselves are contiguous.
  const bool is_contiguous = ops::is_buffer_leaf(root) ||
                             ((ops::is_pointwise(root) || root.op == op::matmul) && !values_.stay.contains(root.name));
  return has_last_strides(view) && is_contiguous;
}

bool Turner::is_of_leaves(const Node &node) const {
  if (ops::is_buffer_leaf(node) || ops::is_generated(node))
    return true;
  return ops::is_inline(node) && node.type().shape.size() < 3 &&
         std::ranges::all_of(node.inputs, [&](const std::string &input) {
           return is_of_leaves(index_.node(input));
         });
}

std::optional<Turner::Weight> Turner::weight_of(const Node &conv) const {
  const elements::MemoryView view = elements::view_of(index_, conv.inputs[1], {});
  const Node &value = index_.node(view.root);
  const TensorType &type = index_.node(conv.inputs[1]).type();
  const std::int64_t outputs = type.shape[0];
  if (taps_of(type.shape) > kMostTaps || view.offset != 0 || value.type().shape[0] != outputs ||
      model::elements_of(value.type().shape) != model::elements_of(type.shape))
    return std::nullopt;
  if (ops::is_buffer_leaf(value))
    return value.name == conv.inputs[1] && !has_last_strides(view)
               ? std::optional(Weight{value.name, value.name, {}})
               : std::nullopt;
  if (value.op != op::mul)
    return std::nullopt;
  for (const std::size_t side : {0, 1}) {
    const Node *factor = &index_.node(value.inputs[1 - side]);
    const Shape &own = factor->type().shape;
    if (own.size() != value.type().shape.size() || own[0] != outputs || model::elements_of(own) != outputs)
      continue;
    while (factor->op == op::reshape)
      factor = &index_.node(factor->inputs[0]);
    const elements::MemoryView source = elements::view_of(index_, value.inputs[side], {});
    // The weight is a product of a leaf or of its view, or a view of such a product.
    const bool is_product = value.name == conv.inputs[1], is_leaf = source.root == value.inputs[side];
    const bool is_turned = is_product ? has_last_strides(source) : is_leaf && has_last_strides(view);
    if ((is_turned || (is_product && is_leaf)) && source.offset == 0 && ops::is_buffer_leaf(index_.node(source.root)) &&
        model::elements_of(index_.node(source.root).type().shape) == model::elements_of(type.shape) &&
        factor->type().dtype == type.dtype && model::elements_of(factor->type().shape) == outputs &&
        is_of_leaves(*factor))
      return Weight{conv.inputs[1], source.root, factor->name};
  }
  return std::nullopt;
}

void Turner::turn_weights() {
  std::map<model::Dtype, std::vector<Weight>> wanted;
  for (const Node &node : index_.graph().nodes)
    if (is_channels_last(node, choices_))
      if (const auto weight = weight_of(node)) {
        auto &list = wanted[index_.node(weight->value).type().dtype];
        if (std::ranges::find(list, *weight) == list.end())
          list.push_back(*weight);
      }
  for (const auto &[dtype, list] : wanted)
    for (std::size_t begin = 0; list.size() >= 2 && begin < list.size(); begin += kMostWeights)
      turn_together(std::span(list).subspan(begin, std::min(kMostWeights, list.size() - begin)));
}

void Turner::turn_together(std::span<const Weight> weights) {
  Node node;
  node.name = weights.front().value + "__and_others";
  node.op = ops::kLayoutsOp;
  Shape factors;
  for (const Weight &weight : weights) {
    const TensorType &type = index_.node(weight.value).type();
    node.inputs.push_back(weight.source);
    node.types.push_back({type.dtype, type.shape, channels_last_strides(type.shape)});
  }
  for (const Weight &weight : weights) {
    factors.push_back(weight.factor.empty() ? -1 : static_cast<std::int64_t>(node.inputs.size()));
    if (weight.factor.empty())
      continue;
    write_operands(weight.factor);
    node.inputs.push_back(weight.factor);
  }
  node.attributes[ops::kFactors] = factors;
  result_.nodes.push_back(node);
  for (std::size_t i = 0; i < weights.size(); ++i)
    laid_out_[weights[i].value] =
        emit(weights[i].value + "__channels_last", op::item, {node.name}, node.types[i],
             {{"index", static_cast<std::int64_t>(i)}});
}

void Turner::write_operands(const std::string &value) {
  const Node &node = index_.node(value);
  if (ops::is_buffer_leaf(node) || !early_.insert(value).second)
    return;
  for (const std::string &input : node.inputs)
    write_operands(input);
  result_.nodes.push_back(node);
}

std::string Turner::laid_out(const std::string &value) {
  if (values_.come.contains(value) && values_.stay.contains(value))
    return first(value); // a view of memory in that order, or memory in that order itself
  const std::string name = first(value);
  if (lies_last(elements::view_of(index_, value, {})))
    return name;
  const auto [known, added] = laid_out_.try_emplace(name, name + "__channels_last");
  const TensorType &type = index_.node(value).type();
  if (added)
    emit(known->second, std::string(ops::kLayoutOp), {name},
         {type.dtype, type.shape, channels_last_strides(type.shape)});
  return known->second;
}

} // namespace warpwright::planning
