#include "generator/families/recurrent/recurrent_shape.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

#include <nlohmann/json.hpp>

namespace warpwright::families::recurrent {
namespace {

std::optional<Cell> cell_of(const std::string &target) {
  if (target == "aten::lstm.input")
    return Cell::Lstm;
  if (target == "aten::gru.input")
    return Cell::Gru;
  if (target == "aten::rnn_tanh.input")
    return Cell::Tanh;
  if (target == "aten::rnn_relu.input")
    return Cell::Relu;
  return std::nullopt;
}

/// Operands that an argument refers to, {"tensor": 1} or {"tensors": [1, 2]}; empty for any other argument.
std::vector<std::string> operands(const model::Node &node, const nlohmann::json &argument) {
  std::vector<std::string> names;
  const auto add = [&](const nlohmann::json &place) {
    if (place.is_number_unsigned() && place.get<std::size_t>() < node.inputs.size())
      names.push_back(node.inputs[place.get<std::size_t>()]);
  };
  if (argument.is_object() && argument.contains("tensor"))
    add(argument["tensor"]);
  if (argument.is_object() && argument.contains("tensors") && argument["tensors"].is_array())
    for (const nlohmann::json &place : argument["tensors"])
      add(place);
  return names;
}

bool has_shape(const ops::GraphIndex &graph, const std::string &value, const model::Shape &shape) {
  return graph.node(value).type().shape == shape;
}

} // namespace

std::optional<RecurrentShape> recurrent_shape(const ops::GraphIndex &graph,
                                              const model::Node &node) {
  const auto cell =
      node.op == op::aten ? cell_of(ops::text_attribute(node, "target")) : std::nullopt;
  if (!cell)
    return std::nullopt;
  // (input, state, weights, has biases, layers, dropout, training, bidirectional, batch first)
  const auto arguments = nlohmann::json::parse(ops::text_attribute(node, "arguments"), nullptr,
                                               /*allow_exceptions=*/false);
  if (!arguments.is_array() || arguments.size() != 9 || !arguments[4].is_number_integer())
    return std::nullopt;
  for (const int flag : {3, 6, 7, 8})
    if (!arguments[flag].is_boolean())
      return std::nullopt;
  RecurrentShape shape;
  shape.cell = *cell;
  const auto input = operands(node, arguments[0]), states = operands(node, arguments[1]),
             weights = operands(node, arguments[2]);
  const bool biases = arguments[3];
  if (input.size() != 1 || states.size() != (*cell == Cell::Lstm ? 2 : 1))
    return std::nullopt;
  shape.input = input[0];
  shape.hidden = states[0];
  shape.memory = states.back();
  shape.layers = arguments[4];
  shape.directions = arguments[7].get<bool>() ? 2 : 1;
  shape.batch_first = arguments[8];
  const model::Shape &in = graph.node(shape.input).type().shape,
                     &state = graph.node(shape.hidden).type().shape;
  if (in.size() != 3 || state.size() != 3 || shape.layers < 1)
    return std::nullopt;
  shape.batch = in[shape.batch_first ? 0 : 1];
  shape.steps = in[shape.batch_first ? 1 : 0];
  shape.features = in[2];
  shape.units = state[2];
  const std::int64_t lines = shape.layers * shape.directions;
  const std::size_t each = biases ? 4 : 2;
  if (std::ssize(weights) != lines * static_cast<std::int64_t>(each) || model::elements_of(in) == 0)
    return std::nullopt;
  for (const std::string &operand : node.inputs)
    if (graph.node(operand).type().dtype != model::Dtype::Float32)
      return std::nullopt;
  for (const std::string &value : states)
    if (!has_shape(graph, value, {lines, shape.batch, shape.units}))
      return std::nullopt;
  const std::int64_t rows = shape.gates() * shape.units;
  for (std::int64_t line = 0; line < lines; ++line) {
    const auto *at = &weights[static_cast<std::size_t>(line) * each];
    RecurrentLine own{at[0], at[1], biases ? at[2] : "", biases ? at[3] : ""};
    if (!has_shape(graph, own.input_weight, {rows, shape.width(line / shape.directions)}) ||
        !has_shape(graph, own.state_weight, {rows, shape.units}) ||
        (biases &&
         !(has_shape(graph, own.input_bias, {rows}) && has_shape(graph, own.state_bias, {rows}))))
      return std::nullopt;
    shape.lines.push_back(std::move(own));
  }
  return shape;
}

} // namespace warpwright::families::recurrent
