// Types of leaves, constants and ATen calls: the node's stated types, checked.
#include "generator/ops/attributes.h"
#include "generator/ops/infer.h"

#include <nlohmann/json.hpp>

namespace warpwright::ops::infer {

using model::Node;
using nlohmann::json;

namespace {

Types stated(const Node &node) {
  Types types = node.types;
  for (model::TensorType &type : types)
    type.strides.clear();
  return types;
}

bool is_number(const json &value) {
  return value.is_number() || value.is_boolean() || (value.is_object() && value.contains("number"));
}

/// Checks that every {"tensor": i} and {"tensors": [i]} names an operand.
Result<void> check_references(const json &value, std::size_t operands) {
  const auto named = [&](const json &index) {
    return index.is_null() || (index.is_number_unsigned() && index.get<std::size_t>() < operands);
  };
  if (!value.is_object())
    return {};
  if (value.contains("tensor") && !named(value["tensor"]))
    return fail("an argument names an operand that it does not have: " + value.dump());
  if (value.contains("tensors"))
    for (const json &index : value["tensors"])
      if (!named(index))
        return fail("an argument names an operand that it does not have: " + value.dump());
  return {};
}

} // namespace

Result<Types> stated_leaf(const Node &node, const Types &) { return stated(node); }

Result<Types> constant(const Node &node, const Types &) {
  const bool scalar = find_attribute(node, "value");
  if (scalar == (find_attribute(node, "values") != nullptr))
    return fail("a constant has a value or values");
  if (scalar)
    return single_result(node.type().dtype, {});
  const json values = json::parse(text_attribute(node, "values"), nullptr, false);
  if (!values.is_array() || !std::ranges::all_of(values, is_number))
    return fail("values is not a JSON list of numbers");
  if (static_cast<std::int64_t>(values.size()) != model::elements_of(node.type().shape))
    return fail(std::to_string(values.size()) + " values for the shape " +
                text_of(node.type().shape));
  return stated(node);
}

Result<Types> iota(const Node &node, const Types &) {
  if (auto checked = check_dim(integer_attribute(node, "dim"), node.type().shape.size()); !checked)
    return std::unexpected(checked.error());
  return stated(node);
}

Result<Types> aten(const Node &node, const Types &operands) {
  if (!text_attribute(node, "target").starts_with("aten::"))
    return fail("target is not an ATen operator: '" + text_attribute(node, "target") + "'");
  const json arguments = json::parse(text_attribute(node, "arguments"), nullptr, false);
  const json keywords = json::parse(text_attribute(node, "keywords", "{}"), nullptr, false);
  if (!arguments.is_array() || !keywords.is_object())
    return fail("arguments must be a JSON list and keywords a JSON object");
  for (const json *given : {&arguments, &keywords})
    for (const json &value : *given)
      if (auto checked = check_references(value, operands.size()); !checked)
        return std::unexpected(checked.error());
  return stated(node);
}

Result<Types> item(const Node &node, const Types &operands) {
  const std::int64_t index = integer_attribute(node, "index", -1);
  if (index < 0 || index >= static_cast<std::int64_t>(operands.size()))
    return fail("result " + std::to_string(index) + " of a node with " +
                std::to_string(operands.size()));
  const model::TensorType &type = operands[static_cast<std::size_t>(index)];
  return single_result(type.dtype, type.shape);
}

} // namespace warpwright::ops::infer
