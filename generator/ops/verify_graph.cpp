#include "generator/ops/verify_graph.h"
#include "generator/ops/infer.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace warpwright::ops {
namespace {

using model::Attribute;
using model::Node;

bool is_identifier(const std::string &name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])))
    return false;
  return std::ranges::all_of(
      name, [](unsigned char letter) { return std::isalnum(letter) || letter == '_'; });
}

bool has_kind(const Attribute &attribute, AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Flag:
    return std::holds_alternative<bool>(attribute);
  case AttributeKind::Integer:
    return std::holds_alternative<std::int64_t>(attribute);
  case AttributeKind::Number:
    return std::holds_alternative<double>(attribute) ||
           std::holds_alternative<std::int64_t>(attribute) ||
           std::holds_alternative<bool>(attribute);
  case AttributeKind::Text:
    return std::holds_alternative<std::string>(attribute);
  case AttributeKind::List:
    return std::holds_alternative<model::Shape>(attribute);
  }
  return false;
}

const char *kind_text(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Flag:
    return "true or false";
  case AttributeKind::Integer:
    return "an integer";
  case AttributeKind::Number:
    return "a number";
  case AttributeKind::Text:
    return "a text";
  case AttributeKind::List:
    return "a list of integers";
  }
  return "";
}

Result<void> check_attributes(const Node &node, const Op &rule) {
  for (const AttributeRule &expected : rule.attributes) {
    const auto found = node.attributes.find(std::string(expected.name));
    if (found == node.attributes.end() && expected.required)
      return fail("the attribute " + std::string(expected.name) + " is missing");
    if (found != node.attributes.end() && !has_kind(found->second, expected.kind))
      return fail("the attribute " + found->first + " must be " + kind_text(expected.kind));
  }
  for (const auto &[name, value] : node.attributes)
    if (std::ranges::find(rule.attributes, name, &AttributeRule::name) == rule.attributes.end())
      return fail("there is no attribute " + name);
  return {};
}

Result<void> check_types(const Node &node) {
  if (node.types.empty())
    return fail("it states no type");
  for (const model::TensorType &type : node.types) {
    if (!type.strides.empty() && type.strides.size() != type.shape.size())
      return fail("strides " + infer::text_of(type.strides) + " for the shape " +
                  infer::text_of(type.shape));
    if (std::ranges::any_of(type.shape, [](std::int64_t extent) { return extent < 0; }) ||
        std::ranges::any_of(type.strides, [](std::int64_t stride) { return stride < 0; }))
      return fail("a negative extent or stride");
  }
  return {};
}

Result<void> check_against(const Node &node, const Types &inferred) {
  if (inferred.size() != node.types.size())
    return fail("it states " + std::to_string(node.types.size()) + " results and gives " +
                std::to_string(inferred.size()));
  for (std::size_t i = 0; i < inferred.size(); ++i)
    if (inferred[i].dtype != node.types[i].dtype || inferred[i].shape != node.types[i].shape)
      return fail("it is stated as " + infer::text_of(node.types[i]) + " and gives " +
                  infer::text_of(inferred[i]));
  return {};
}

class Verifier {
public:
  explicit Verifier(const model::Graph &graph) : graph_(graph) {}

  Result<void> run() {
    for (const Node &node : graph_.nodes) {
      if (auto checked = check(node); !checked)
        return fail("node " + node.name + " (" + node.op + "): " + checked.error().message);
      known_.emplace(node.name, &node);
    }
    return check_results();
  }

private:
  Result<void> check(const Node &node) {
    if (!is_identifier(node.name))
      return fail("its name is not a C identifier");
    if (known_.contains(node.name))
      return fail("another node has its name");
    const Op *rule = find_op(node.op);
    if (!rule || !rule->infer)
      return fail("there is no such op");
    if (node.inputs.size() < rule->least_operands || node.inputs.size() > rule->most_operands)
      return fail("it has " + std::to_string(node.inputs.size()) + " operands");
    if (auto checked = check_types(node); !checked)
      return checked;
    if (auto checked = check_attributes(node, *rule); !checked)
      return checked;
    Types operands;
    for (const std::string &input : node.inputs) {
      const auto found = known_.find(input);
      if (found == known_.end())
        return fail("its operand " + input + " does not come before it");
      operands.push_back(found->second->type());
    }
    if (node.op == op::item)
      operands = known_.at(node.inputs[0])->types; // it picks among all results
    const auto inferred = rule->infer(node, operands);
    if (!inferred)
      return std::unexpected(inferred.error());
    return check_against(node, *inferred);
  }

  Result<void> check_results() {
    if (graph_.outputs.empty() && graph_.updates.empty())
      return fail("the graph has no output");
    for (const std::string &output : graph_.outputs)
      if (!known_.contains(output))
        return fail("the output " + output + " is no node");
    for (const model::Update &update : graph_.updates)
      if (auto checked = check_update(update); !checked)
        return fail("the update of " + update.parameter + ": " + checked.error().message);
    return {};
  }

  Result<void> check_update(const model::Update &update) {
    const auto parameter = known_.find(update.parameter), value = known_.find(update.value);
    if (parameter == known_.end() || value == known_.end())
      return fail("it names no node");
    const Node &state = *parameter->second;
    if (!is_buffer_leaf(state))
      return fail("it is a " + state.op + ", not a parameter or an input");
    const model::TensorType &from = value->second->type(), &to = state.type();
    if (from.dtype != to.dtype || from.shape != to.shape)
      return fail("it is " + infer::text_of(to) + " and would become " + infer::text_of(from));
    return {};
  }

  const model::Graph &graph_;
  std::unordered_map<std::string, const Node *> known_;
};

} // namespace

Result<void> verify_graph(const model::Graph &graph) { return Verifier(graph).run(); }

} // namespace warpwright::ops
