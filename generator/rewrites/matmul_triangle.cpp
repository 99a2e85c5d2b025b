// Marks on triangular operands and results of products, so that the matmul family can skip tiles.
//
// The attributes are optional and safe to ignore. `fill` "lower" | "upper": every reader takes only that triangle (with
// the diagonal), so the rest may hold anything. `a_fill`, `b_fill`: the operand is zero outside that triangle. The triu
// and tril nodes stay and select rather than multiply, so skipped elements are never seen.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

namespace warpwright::rewrites {
namespace {

std::string mirrored(const std::string &fill) {
  return fill == "lower" ? "upper" : fill == "upper" ? "lower" : "";
}

/// Returns the triangle outside which a value is zero: "lower", "upper" or "".
std::string zero_outside(const GraphFacts &facts, const std::string &value) {
  const model::Node &node = facts.node(value);
  const std::int64_t diagonal = ops::integer_attribute(node, "diagonal");
  if (node.op == op::tril)
    return diagonal <= 0 ? "lower" : "";
  if (node.op == op::triu)
    return diagonal >= 0 ? "upper" : "";
  if (node.op == op::relu || node.op == op::neg || node.op == op::abs)
    return zero_outside(facts, node.inputs[0]);
  if (node.op == op::permute) {
    const model::Shape dims = ops::list_attribute(node, "dims").value_or(model::Shape{});
    for (std::size_t i = 0; i + 2 < dims.size(); ++i)
      if (dims[i] != static_cast<std::int64_t>(i))
        return "";
    return dims.size() >= 2 && dims[dims.size() - 1] + 2 == std::ssize(dims)
               ? mirrored(zero_outside(facts, node.inputs[0]))
               : "";
  }
  if (node.op == op::mul)
    for (const std::string &input : node.inputs)
      if (facts.type(input).shape == node.type().shape)
        if (const std::string fill = zero_outside(facts, input); !fill.empty())
          return fill;
  if (node.op == op::matmul) { // products of lower triangles are lower
    const std::string fill = zero_outside(facts, node.inputs[0]);
    return fill == zero_outside(facts, node.inputs[1]) ? fill : "";
  }
  return "";
}

/// Returns the triangle that all readers of a value take.
std::string needed(const GraphFacts &facts, const std::string &value) {
  if (facts.index().is_result(value))
    return "";
  std::string fill;
  for (const model::Node *user : facts.index().users(value)) {
    const std::int64_t diagonal = ops::integer_attribute(*user, "diagonal");
    const std::string theirs =
        user->op == op::tril && diagonal <= 0   ? "lower"
        : user->op == op::triu && diagonal >= 0 ? "upper"
        : user->op == op::add || user->op == op::mul || user->op == op::sub || user->op == op::relu ||
                user->op == op::div || user->op == op::neg
            ? (user->type().shape == facts.type(value).shape ? needed(facts, user->name) : "")
            : "";
    if (theirs.empty() || (!fill.empty() && fill != theirs))
      return "";
    fill = theirs;
  }
  return fill;
}

} // namespace

std::optional<Replacement> triangle_hints(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::matmul)
    return std::nullopt;
  model::Node hinted = node;
  const auto hint = [&](const char *name, const std::string &fill) {
    if (!fill.empty())
      hinted.attributes[name] = fill;
  };
  hint("fill", needed(facts, node.name));
  hint("a_fill", zero_outside(facts, node.inputs[0]));
  hint("b_fill", zero_outside(facts, node.inputs[1]));
  if (hinted.attributes == node.attributes)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  return builder.finish(with_inputs(builder, hinted, node.inputs, node.type().shape));
}

} // namespace warpwright::rewrites
