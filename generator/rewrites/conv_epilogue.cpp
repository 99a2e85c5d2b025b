// Factors and shifts of channels between a convolution and a relu, as a batch norm with fixed statistics leaves them, in
// the convolution's weight and bias. A library then computes the convolution, its bias, the addition of a residual and
// the relu in one kernel (planning/aten_lowering.h). It is a choice: it costs a pass over the weight at each call.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>
#include <ranges>

namespace warpwright::rewrites {
namespace {

/// Nodes that scale or shift channels, from the convolution on.
struct Chain {
  const model::Node *conv = nullptr;
  struct Step {
    std::string op, channels; ///< add, sub or mul, and its operand of one number or a number for each channel
  };
  std::vector<Step> steps;
};

bool is_of_channels(const model::TensorType &value, const model::TensorType &image) {
  if (value.shape.size() > image.shape.size() || !model::is_floating(value.dtype))
    return false;
  const model::Shape own = aligned(value.shape, image.shape.size());
  for (std::size_t dim = 0; dim < own.size(); ++dim)
    if (dim != 1 && own[dim] != 1)
      return false;
  return true;
}

/// Returns true for convolutions that a library computes with bias and relu.
bool is_plain_image(const GraphFacts &facts, const model::Node &conv) {
  const std::size_t rank = conv.type().shape.size();
  return conv.op == op::conv && (rank == 4 || rank == 5) &&
         facts.type(conv.inputs[0]).shape.size() == rank &&
         !ops::flag_attribute(conv, "transposed") && ops::integer_attribute(conv, "groups", 1) == 1;
}

std::optional<Chain> chain_of(const GraphFacts &facts, const std::string &last) {
  Chain chain;
  const model::Node *value = &facts.node(last);
  while (value->op != op::conv) {
    if (value->op == op::cast && facts.read_once(value->name) && model::is_floating(value->type().dtype) &&
        model::is_floating(facts.type(value->inputs[0]).dtype)) {
      value = &facts.node(value->inputs[0]);
      continue;
    }
    if (!facts.read_once(value->name) ||
        (value->op != op::add && value->op != op::sub && value->op != op::mul))
      return std::nullopt;
    const bool is_first = is_of_channels(facts.type(value->inputs[1]), value->type());
    const std::string &image = value->inputs[is_first ? 0 : 1], &channels = value->inputs[is_first ? 1 : 0];
    if (facts.type(image).shape != value->type().shape ||
        !model::is_floating(facts.type(image).dtype) ||
        !is_of_channels(facts.type(channels), value->type()) ||
        (value->op == op::sub && !is_first))
      return std::nullopt;
    chain.steps.push_back({value->op, channels});
    value = &facts.node(image);
  }
  if (!facts.read_once(value->name) || !is_plain_image(facts, *value))
    return std::nullopt;
  chain.conv = value;
  std::ranges::reverse(chain.steps);
  return chain;
}

/// Writes a convolution with the chain in its weight and bias, which are computed in float32 for halves.
std::string folded(const GraphFacts &facts, ReplacementBuilder &builder, const Chain &chain) {
  std::vector<std::string> inputs = chain.conv->inputs;
  const model::Shape &shape = chain.conv->type().shape;
  const model::Dtype dtype = chain.conv->type().dtype,
                     wide = model::size_bytes(dtype) == 2 ? model::Dtype::Float32 : dtype;
  std::optional<std::string> factor, shift;
  if (inputs.size() > 2)
    shift = builder.cast(inputs[2], wide);
  for (const auto &[op, channels] : chain.steps) {
    const std::string numbers = builder.cast(
        builder.expand(builder.reshape(channels, {model::elements_of(facts.type(channels).shape)}), {shape[1]}), wide);
    if (op == op::mul) {
      factor = factor ? builder.multiply(*factor, numbers) : numbers;
      if (shift)
        shift = builder.multiply(*shift, numbers);
    } else if (op == op::add) {
      shift = shift ? builder.add(*shift, numbers) : numbers;
    } else {
      shift = shift ? builder.op(op::sub, {*shift, numbers}) : builder.op(op::neg, {numbers});
    }
  }
  if (factor) {
    model::Shape column(shape.size(), 1);
    column[0] = shape[1];
    inputs[1] = builder.multiply(inputs[1], builder.reshape(builder.cast(*factor, dtype), column));
  }
  inputs.resize(2);
  inputs.push_back(builder.cast(*shift, dtype));
  return with_inputs(builder, *chain.conv, inputs, shape);
}

} // namespace

std::optional<Replacement> fold_into_convolution(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::relu)
    return std::nullopt;
  auto chain = chain_of(facts, node.inputs[0]);
  std::optional<std::string> residual;
  if (const model::Node &sum = facts.node(node.inputs[0]);
      !chain && sum.op == op::add && facts.read_once(sum.name))
    for (const std::size_t side : {0, 1}) {
      const std::string &other = sum.inputs[1 - side];
      auto found = chain_of(facts, sum.inputs[side]);
      if (!found || !same_type(facts.type(other), sum.type()) ||
          (chain && facts.index().position(chain->conv->name) >
                        facts.index().position(found->conv->name)))
        continue;
      chain = std::move(found);
      residual = other;
    }
  const auto shifts = [](const Chain::Step &step) { return step.op != op::mul; };
  if (!chain || chain->conv->type().dtype != node.type().dtype || chain->steps.empty() || // those of an earlier rewrite are empty
      (chain->conv->inputs.size() < 3 && std::ranges::none_of(chain->steps, shifts)))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  std::string value = folded(facts, builder, *chain);
  if (residual)
    value = builder.add(value, *residual);
  return builder.finish(builder.op(op::relu, {value}));
}

} // namespace warpwright::rewrites
