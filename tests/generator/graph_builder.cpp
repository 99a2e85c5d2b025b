#include "tests/generator/graph_builder.h"

#include "tests/generator/graph_interpreter_ops.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace warpwright::test {
namespace {

bool gives_booleans(const std::string &op) {
  static constexpr std::array kOps = {"eq",         "ne",          "lt",          "le",
                                      "gt",         "ge",          "logical_not", "logical_and",
                                      "logical_or", "logical_xor", "any",         "all"};
  return std::ranges::find(kOps, op) != kOps.end();
}

/// Ops that give floating point for integers too.
bool gives_floating(const std::string &op) {
  static constexpr std::array kOps = {
      "div",     "mean",       "exp",   "expm1", "log",  "log1p",     "log2",  "sqrt",
      "rsqrt",   "reciprocal", "sin",   "cos",   "tan",  "atan",      "erf",   "erfc",
      "sigmoid", "tanh",       "atan2", "var",   "norm", "logsumexp", "hypot", "copysign"};
  return std::ranges::find(kOps, op) != kOps.end();
}

} // namespace

std::string GraphBuilder::leaf(const std::string &op, const std::string &name, model::Shape shape,
                               model::Dtype dtype) {
  return node({.name = name,
               .op = op,
               .inputs = {},
               .attributes = {{"torch_name", name}},
               .types = {{dtype, std::move(shape), {}}}});
}

std::string GraphBuilder::input(const std::string &name, model::Shape shape, model::Dtype dtype) {
  return leaf("input", name, std::move(shape), dtype);
}

std::string GraphBuilder::parameter(const std::string &name, model::Shape shape,
                                    model::Dtype dtype) {
  return leaf("parameter", name, std::move(shape), dtype);
}

std::string GraphBuilder::constant(double value, model::Dtype dtype) {
  return shaped("constant", {}, {}, {{"value", value}}, dtype);
}

std::string GraphBuilder::shaped(const std::string &op, std::vector<std::string> inputs,
                                 model::Shape shape, model::Attributes attributes,
                                 std::optional<model::Dtype> dtype) {
  if (!dtype)
    dtype = inputs.empty() ? model::Dtype::Float32 : type(inputs.front()).dtype;
  return node({.name = op + "_" + std::to_string(graph_.nodes.size()),
               .op = op,
               .inputs = std::move(inputs),
               .attributes = std::move(attributes),
               .types = {{*dtype, std::move(shape), {}}}});
}

std::string GraphBuilder::op(const std::string &op, std::vector<std::string> inputs,
                             model::Attributes attributes) {
  model::Node added{.name = op + "_" + std::to_string(graph_.nodes.size()),
                    .op = op,
                    .inputs = std::move(inputs),
                    .attributes = std::move(attributes),
                    .types = {}};
  if (op == "item") {
    const auto which = std::get<std::int64_t>(added.attributes.at("index"));
    const auto source = std::ranges::find(graph_.nodes, added.inputs.front(), &model::Node::name);
    added.types = {source->types.at(static_cast<std::size_t>(which))};
    return node(std::move(added));
  }
  std::vector<Array> zeros;
  for (const std::string &input : added.inputs)
    zeros.emplace_back(type(input).dtype, type(input).shape);
  std::vector<const Array *> operands;
  for (const Array &array : zeros)
    operands.push_back(&array);
  auto results = interpret_node(added, operands);
  if (!results)
    throw std::runtime_error(results.error().message);
  for (const Array &result : *results)
    added.types.push_back({result.dtype, result.shape, {}});
  model::Dtype &dtype = added.types.front().dtype;
  if (gives_booleans(op))
    dtype = model::Dtype::Bool;
  else if (op == "argmax" || op == "argmin")
    dtype = model::Dtype::Int64;
  else if (gives_floating(op) && !model::is_floating(dtype))
    dtype = model::Dtype::Float32;
  else if ((op == "sum" || op == "prod" || op == "cumsum" || op == "cumprod") &&
           !model::is_floating(dtype))
    dtype = model::Dtype::Int64;
  return node(std::move(added));
}

std::string GraphBuilder::node(model::Node node) {
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().name;
}

const model::TensorType &GraphBuilder::type(const std::string &name) const {
  const auto found = std::ranges::find(graph_.nodes, name, &model::Node::name);
  if (found == graph_.nodes.end())
    throw std::runtime_error("no node named " + name);
  return found->type();
}

model::Graph GraphBuilder::graph(std::vector<std::string> outputs) const {
  model::Graph graph = graph_;
  graph.outputs = std::move(outputs);
  return graph;
}

} // namespace warpwright::test
