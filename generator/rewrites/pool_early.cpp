// Average pools moved before a factor or a shift that is constant in their windows: fewer elements to scale, and the
// pool stands behind the convolution that it may become part of.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {

std::optional<Replacement> pool_before_scale(const GraphFacts &facts, const model::Node &node) {
  const auto kernel = ops::list_attribute(node, "kernel");
  if (node.op != op::avg_pool || !kernel || ops::flag_attribute(node, "ceil") ||
      ops::integer_attribute(node, "divisor") != 0 ||
      std::ranges::any_of(ops::list_attribute(node, "padding", kernel->size(), 0),
                          [](std::int64_t extent) { return extent != 0; }))
    return std::nullopt;
  const model::Node &inner = facts.node(node.inputs[0]);
  if (!facts.read_once(inner.name) ||
      (inner.op != op::mul && inner.op != op::div && inner.op != op::add && inner.op != op::sub))
    return std::nullopt;
  const model::Shape &shape = inner.type().shape;
  for (const std::size_t other : {1, 0}) {
    if (other == 0 && inner.op == op::div)
      continue;
    const model::Shape own = aligned(facts.type(inner.inputs[other]).shape, shape.size());
    if (facts.type(inner.inputs[1 - other]).shape != shape ||
        std::any_of(own.end() - std::ssize(*kernel), own.end(),
                    [](std::int64_t extent) { return extent != 1; }))
      continue;
    ReplacementBuilder builder(facts, node);
    std::vector<std::string> inputs = inner.inputs;
    inputs[1 - other] = with_inputs(builder, node, {inputs[1 - other]}, node.type().shape);
    return builder.finish(builder.op(inner.op, inputs));
  }
  return std::nullopt;
}

} // namespace warpwright::rewrites
