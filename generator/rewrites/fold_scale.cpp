// A factor or a shift for each output channel of a convolution or product, folded into its weight and bias. It is a
// choice, for where later nodes cannot be fused into it, as behind a library's convolution. It costs a pass over the
// weight at each call.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

namespace warpwright::rewrites {
namespace {

/// Returns true where a value that broadcasts to `shape` varies along `dim` only.
bool varies_along(const model::Shape &value, const model::Shape &shape, std::size_t dim) {
  if (value.size() > shape.size())
    return false;
  const model::Shape own = aligned(value, shape.size());
  for (std::size_t i = 0; i < own.size(); ++i)
    if (i != dim && own[i] != 1)
      return false;
  return true;
}

} // namespace

std::optional<Replacement> fold_scale_into_weight(const GraphFacts &facts,
                                                  const model::Node &node) {
  if (node.op != op::mul && node.op != op::add)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  for (const std::size_t factor : {1, 0}) {
    const model::Node &product = facts.node(node.inputs[1 - factor]);
    const std::string &number = node.inputs[factor];
    const model::Shape &shape = node.type().shape, own = facts.type(number).shape;
    if (product.type().shape != shape || !facts.read_once(product.name) ||
        facts.index().position(number) > facts.index().position(node.name))
      continue;
    if (product.op == op::matmul && node.op == op::mul && varies_along(own, shape, shape.size() - 1) &&
        facts.type(product.inputs[1]).shape.size() == 2) {
      const std::string row = builder.reshape(number, {own.empty() ? 1 : own.back()});
      const std::string weight = builder.multiply(product.inputs[1], row);
      return builder.finish(builder.op(op::matmul, {product.inputs[0], weight}));
    }
    if (product.op != op::conv || ops::flag_attribute(product, "transposed") ||
        !varies_along(own, shape, 1) || shape.size() != facts.type(product.inputs[1]).shape.size())
      continue;
    const std::string channels =
        builder.expand(builder.reshape(number, {model::elements_of(own)}), {shape[1]});
    std::vector<std::string> inputs = product.inputs;
    if (node.op == op::mul) {
      model::Shape column(shape.size(), 1);
      column[0] = shape[1];
      inputs[1] = builder.multiply(inputs[1], builder.reshape(channels, column));
      if (inputs.size() > 2)
        inputs[2] = builder.multiply(inputs[2], channels);
    } else if (inputs.size() > 2) {
      inputs[2] = builder.add(inputs[2], channels);
    } else {
      inputs.push_back(channels);
    }
    return builder.finish(with_inputs(builder, product, inputs, shape));
  }
  return std::nullopt;
}

} // namespace warpwright::rewrites
