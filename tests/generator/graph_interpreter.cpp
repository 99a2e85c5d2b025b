#include "tests/generator/graph_interpreter.h"

#include "generator/ops/attributes.h"
#include "tests/generator/graph_interpreter_ops.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <random>

namespace warpwright::test {
namespace {

double round_floating(double value, int precision, int smallest_exponent, double largest) {
  if (value == 0 || !std::isfinite(value))
    return value;
  const int exponent = std::max(std::ilogb(value), smallest_exponent);
  const double quantum = std::ldexp(1.0, exponent - precision + 1);
  const double rounded = std::nearbyint(value / quantum) * quantum;
  return std::abs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                     : rounded;
}

double wrap(double value, int bits, bool is_signed) {
  const double range = std::ldexp(1.0, bits);
  double wrapped = std::fmod(std::trunc(value), range);
  if (wrapped < 0)
    wrapped += range;
  return is_signed && wrapped >= range / 2 ? wrapped - range : wrapped;
}

void flatten(const nlohmann::json &list, std::vector<double> &values) {
  if (list.is_array())
    for (const nlohmann::json &element : list)
      flatten(element, values);
  else if (list.is_boolean())
    values.push_back(list.get<bool>() ? 1 : 0);
  else if (list.is_string())
    values.push_back(std::strtod(list.get<std::string>().c_str(), nullptr));
  else
    values.push_back(list.get<double>());
}

Result<Array> constant(const model::Node &node) {
  Array array(node.type().dtype, node.type().shape, ops::number_attribute(node, "value"));
  if (!ops::find_attribute(node, "values"))
    return array;
  array.values.clear();
  const auto list = nlohmann::json::parse(ops::text_attribute(node, "values"), nullptr, false);
  if (list.is_discarded())
    return fail("the values of constant " + node.name + " are not JSON");
  flatten(list, array.values);
  if (array.values.size() == 1)
    array.values.resize(static_cast<std::size_t>(model::elements_of(array.shape)),
                        array.values.front());
  return array;
}

bool outside(const std::string &fill, const model::Shape &index) {
  const std::int64_t row = index[index.size() - 2], column = index.back();
  return fill == "lower" ? column > row : fill == "upper" && column < row;
}

Result<void> check_fill(const model::Node &node, const Operands &inputs, Array &result) {
  const std::string attributes[] = {"a_fill", "b_fill"};
  for (std::size_t i = 0; i < 2 && i < inputs.size(); ++i) {
    const std::string fill = ops::text_attribute(node, attributes[i]);
    bool kept = true;
    if (!fill.empty())
      for_each_index(inputs[i]->shape, [&](const model::Shape &index) {
        kept = kept && (!outside(fill, index) || inputs[i]->at(index) == 0);
      });
    if (!kept)
      return fail("operand " + node.inputs[i] + " of " + node.name + " is not " + fill);
  }
  if (const std::string fill = ops::text_attribute(node, "fill"); !fill.empty())
    for_each_index(result.shape, [&](const model::Shape &index) {
      if (outside(fill, index))
        result.at(index) = std::nan("");
    });
  return {};
}

std::string spell(const model::Shape &shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape)
    text += (text.size() > 1 ? "," : "") + std::to_string(extent);
  return text + "]";
}

/// The largest integer, exclusive, that users of a leaf of indices admit.
std::int64_t index_limit(const model::Graph &graph, const std::string &leaf) {
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  const auto shape_of = [&](const std::string &name) {
    return std::ranges::find(graph.nodes, name, &model::Node::name)->type().shape;
  };
  for (const model::Node &node : graph.nodes)
    if (node.inputs.size() >= 2 && node.inputs[1] == leaf) {
      if (node.op == "embedding")
        limit = std::min(limit, shape_of(node.inputs[0])[0]);
      if (node.op == "gather" || node.op == "index_select" || node.op.starts_with("scatter_"))
        limit = std::min(
            limit,
            shape_of(
                node.inputs[0])[static_cast<std::size_t>(ops::integer_attribute(node, "dim"))]);
    }
  return limit == std::numeric_limits<std::int64_t>::max() ? 4 : limit;
}

bool is_variance(const model::Graph &graph, const std::string &leaf) {
  return std::ranges::any_of(graph.nodes, [&](const model::Node &node) {
    return node.op == "batch_norm" && !node.inputs.empty() && node.inputs.back() == leaf &&
           !ops::is_absent(node, "running_var");
  });
}

} // namespace

double round_to(double value, model::Dtype dtype) {
  using model::Dtype;
  switch (dtype) {
  case Dtype::Bool:
    return value != 0 ? 1 : 0;
  case Dtype::Float64:
    return value;
  case Dtype::Float32:
    return static_cast<float>(value);
  case Dtype::Float16:
    return round_floating(value, 11, -14, 65504);
  case Dtype::BFloat16:
    return round_floating(value, 8, -126, std::numeric_limits<float>::max());
  case Dtype::Int64:
  case Dtype::UInt64:
    return std::trunc(value);
  case Dtype::Int8:
  case Dtype::Int16:
  case Dtype::Int32:
    return wrap(value, static_cast<int>(8 * model::size_bytes(dtype)), true);
  case Dtype::UInt8:
  case Dtype::UInt16:
  case Dtype::UInt32:
    return wrap(value, static_cast<int>(8 * model::size_bytes(dtype)), false);
  }
  return value;
}

double relative_difference(const Array &actual, const Array &expected) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (actual.shape != expected.shape || actual.values.size() != expected.values.size())
    return infinity;
  double difference = 0, magnitude = 1;
  for (std::size_t i = 0; i < actual.values.size(); ++i) {
    const double a = actual.values[i], e = expected.values[i];
    if (a == e || (std::isnan(a) && std::isnan(e)))
      continue;
    if (!std::isfinite(a) || !std::isfinite(e))
      return infinity;
    difference = std::max(difference, std::abs(a - e));
  }
  for (const double e : expected.values)
    if (std::isfinite(e))
      magnitude = std::max(magnitude, std::abs(e));
  return difference / magnitude;
}

Result<std::vector<Array>> interpret_node(const model::Node &node, const Operands &inputs) {
  if (node.op == "constant") {
    auto array = constant(node);
    if (!array)
      return std::unexpected(array.error());
    return std::vector<Array>{std::move(*array)};
  }
  for (const auto &group :
       {interpret_pointwise, interpret_view, interpret_index, interpret_reduction, interpret_row,
        interpret_product, interpret_window})
    if (Results results = group(node, inputs))
      return std::move(*results);
  return fail("the interpreter does not know the op " + node.op + " of node " + node.name);
}

Result<Arrays> interpret(const model::Graph &graph, const Arrays &leaves,
                         const Interpretation &how) {
  std::map<std::string, std::vector<Array>> values;
  for (const model::Node &node : graph.nodes) {
    Operands inputs;
    for (const std::string &input : node.inputs) {
      if (!values.contains(input))
        return fail("node " + node.name + " takes " + input + " before it is computed");
      inputs.push_back(&values[input].front());
    }
    std::vector<Array> results;
    if (node.op == "input" || node.op == "parameter") {
      if (!leaves.contains(node.name))
        return fail("no value for " + node.name);
      results = {leaves.at(node.name)};
    } else if (node.op == "item") {
      const auto &several = values[node.inputs[0]];
      const auto which = static_cast<std::size_t>(ops::integer_attribute(node, "index"));
      if (which >= several.size())
        return fail("node " + node.name + " picks a result that there is not");
      results = {several[which]};
    } else {
      auto computed = interpret_node(node, inputs);
      if (!computed)
        return std::unexpected(computed.error());
      results = std::move(*computed);
    }
    for (std::size_t i = 0; i < results.size() && i < node.types.size(); ++i) {
      const model::TensorType &type = node.types[i];
      if (results[i].shape != type.shape)
        return fail("node " + node.name + " (" + node.op + ") has shape " + spell(type.shape) +
                    ", its op gives " + spell(results[i].shape));
      results[i].dtype = type.dtype;
      if (how.round_each_node || !model::is_floating(type.dtype))
        for (double &value : results[i].values)
          value = round_to(value, type.dtype);
    }
    if (how.check_fill)
      if (auto checked = check_fill(node, inputs, results.front()); !checked)
        return std::unexpected(checked.error());
    values[node.name] = std::move(results);
  }
  Arrays arrays;
  for (auto &[name, results] : values)
    arrays[name] = std::move(results.front());
  return arrays;
}

Arrays draw_leaves(const model::Graph &graph, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Arrays leaves;
  for (const model::Node &node : graph.nodes) {
    if (node.op != "input" && node.op != "parameter")
      continue;
    Array array(node.type().dtype, node.type().shape);
    const std::int64_t limit = index_limit(graph, node.name);
    const bool positive = is_variance(graph, node.name);
    for (double &value : array.values) {
      if (array.dtype == model::Dtype::Bool)
        value = static_cast<double>(random() % 2);
      else if (!model::is_floating(array.dtype))
        value = static_cast<double>(random() % static_cast<std::uint64_t>(limit));
      else
        value = round_to(positive ? 0.5 + std::abs(normal(random)) : normal(random), array.dtype);
    }
    leaves[node.name] = std::move(array);
  }
  return leaves;
}

} // namespace warpwright::test
