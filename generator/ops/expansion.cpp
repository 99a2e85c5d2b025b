#include "generator/ops/expansion.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpwright::ops {

using model::Node;
using model::Shape;
using model::TensorType;

namespace {

Shape keep_dims(const Shape &shape, const Shape &dims) {
  Shape kept = shape;
  for (const std::int64_t dim : dims)
    kept[static_cast<std::size_t>(dim)] = 1;
  return kept;
}

struct Softmax {
  std::string shifted, exponential, total;
  Shape kept;
};

Softmax softmax_parts(Expander &out, const Node &node, const TensorType &x) {
  const Shape dims{integer_attribute(node, "dim")};
  const Shape &shape = x.shape, kept = keep_dims(shape, dims);
  const std::string largest = out.reduce(op::amax, node.inputs[0], shape, dims);
  const std::string shifted = out.op(op::sub, {node.inputs[0], largest}, shape);
  const std::string exponential = out.op(op::exp, {shifted}, shape);
  const std::string total = out.reduce(op::sum, exponential, shape, dims);
  return {shifted, exponential, total, kept};
}

/// Returns the names of the optional operands that are present, by their order in docs/internals/op-graph.md.
std::map<std::string, std::string> optional_operands(const Node &node,
                                                     std::initializer_list<const char *> names) {
  std::map<std::string, std::string> found;
  std::size_t next = 1;
  for (const char *name : names)
    if (!is_absent(node, name) && next < node.inputs.size())
      found[name] = node.inputs[next++];
  return found;
}

/// Appends (x - mean) * scale [* weight] [+ bias] as the composite node's result.
/// @param shape of the result
/// @param parameter_shape to which weight and bias are reshaped; empty: they broadcast as they are
void finish_affine(Expander &out, std::string value, const Shape &shape,
                   std::map<std::string, std::string> &operands, const Shape &parameter_shape) {
  for (const auto &[operand, op] :
       {std::pair<std::string, std::string>{"weight", "mul"}, {"bias", "add"}}) {
    if (!operands.contains(operand))
      continue;
    std::string parameter = operands[operand];
    if (!parameter_shape.empty())
      parameter = out.op(op::reshape, {parameter}, parameter_shape);
    value = out.op(op, {value, parameter}, shape);
  }
  out.finish(op::reshape, {value});
}

std::string inverse_deviation(Expander &out, const std::string &variance, const Shape &kept,
                              double epsilon) {
  return out.op(op::rsqrt, {out.op(op::add, {variance, out.constant(epsilon)}, kept)}, kept);
}

/// Returns the channels' extent in dimension 1, and 1 in all other dimensions.
Shape channel_shape(const Shape &shape) {
  Shape result(shape.size(), 1);
  result[1] = shape[1];
  return result;
}

/// Appends old * (1 - momentum) + value * momentum, the new value of a running statistic. @return its name
std::string running(Expander &out, const std::string &old, const std::string &value,
                    double momentum, std::int64_t channels) {
  const Shape shape{channels};
  return out.op(op::add,
                {out.op(op::mul, {old, out.constant(1 - momentum)}, shape),
                 out.op(op::mul, {out.op(op::reshape, {value}, shape), out.constant(momentum)}, shape)},
                shape);
}

} // namespace

std::string Expander::constant(double value) {
  // JSON and C++ have no literal for infinities; attribute readers take the texts.
  model::Attribute attribute = value;
  if (std::isinf(value))
    attribute = std::string(value > 0 ? "inf" : "-inf");
  return append(op::constant, {}, {}, {{"value", attribute}}, compute_);
}

std::string Expander::reduce(const std::string &op, const std::string &x, const Shape &shape,
                             const Shape &dims, model::Attributes attributes) {
  attributes["dims"] = dims;
  attributes["keepdim"] = true;
  return append(op, {x}, keep_dims(shape, dims), std::move(attributes), compute_);
}

void Expander::finish(const std::string &op, std::vector<std::string> inputs) {
  graph_.nodes.push_back({node_.name, op, std::move(inputs), {}, {node_.type()}});
}

std::string Expander::append(const std::string &op, std::vector<std::string> inputs, Shape shape,
                             model::Attributes attributes, model::Dtype dtype) {
  const std::string name = node_.name + "__" + std::to_string(count_++);
  graph_.nodes.push_back(
      {name, op, std::move(inputs), std::move(attributes), {{dtype, std::move(shape), {}}}});
  return name;
}

namespace expansion {

using Names = Result<std::vector<std::string>>;

Names softmax(Expander &out, const Node &node, const TensorType &x) {
  const auto [shifted, exponential, total, kept] = softmax_parts(out, node, x);
  out.finish(op::mul, {exponential, out.op(op::reciprocal, {total}, kept)});
  return {};
}

Names log_softmax(Expander &out, const Node &node, const TensorType &x) {
  const auto [shifted, exponential, total, kept] = softmax_parts(out, node, x);
  out.finish(op::sub, {shifted, out.op(op::log, {total}, kept)});
  return {};
}

Names logsumexp(Expander &out, const Node &node, const TensorType &x) {
  const Shape dims = reduced_dims(node, x.shape.size()), kept = keep_dims(x.shape, dims);
  const std::string largest = out.reduce(op::amax, node.inputs[0], x.shape, dims);
  // As in PyTorch, an infinite maximum is not subtracted.
  const std::string infinite = out.comparison(
      "eq", {out.op(op::abs, {largest}, kept), out.constant(std::numeric_limits<double>::infinity())},
      kept);
  const std::string shift = out.op(op::where, {infinite, out.constant(0), largest}, kept);
  const std::string exponential =
      out.op(op::exp, {out.op(op::sub, {node.inputs[0], shift}, x.shape)}, x.shape);
  const std::string total = out.reduce(op::sum, exponential, x.shape, dims);
  const std::string result = out.op(op::add, {out.op(op::log, {total}, kept), shift}, kept);
  out.finish(op::reshape, {result});
  return {};
}

Names norm(Expander &out, const Node &node, const TensorType &x) {
  const Shape dims = reduced_dims(node, x.shape.size()), kept = keep_dims(x.shape, dims);
  const double p = number_attribute(node, "p", 2);
  const std::string &operand = node.inputs[0];
  std::string result;
  if (p == 2) {
    result = out.op(op::sqrt,
                    {out.reduce(op::sum, out.op(op::square, {operand}, x.shape), x.shape, dims)}, kept);
  } else if (std::isinf(p)) {
    result = out.reduce(p > 0 ? op::amax : op::amin, out.op(op::abs, {operand}, x.shape), x.shape, dims);
  } else if (p == 0) {
    const std::string nonzero = out.comparison(op::ne, {operand, out.constant(0)}, x.shape);
    result = out.reduce(op::sum, out.op(op::cast, {nonzero}, x.shape), x.shape, dims);
  } else {
    const std::string magnitude = out.op(op::abs, {operand}, x.shape);
    if (p == 1) {
      result = out.reduce(op::sum, magnitude, x.shape, dims);
    } else {
      const std::string powers = out.op(op::pow, {magnitude, out.constant(p)}, x.shape);
      result = out.op(op::pow, {out.reduce(op::sum, powers, x.shape, dims), out.constant(1 / p)}, kept);
    }
  }
  out.finish(op::reshape, {result});
  return {};
}

Names layer_norm(Expander &out, const Node &node, const TensorType &x) {
  const Shape dims = reduced_dims(node, x.shape.size()), kept = keep_dims(x.shape, dims);
  auto operands = optional_operands(node, {"weight", "bias"});
  const std::string mean = out.reduce(op::mean, node.inputs[0], x.shape, dims);
  const std::string variance =
      out.reduce(op::var, node.inputs[0], x.shape, dims, {{"correction", std::int64_t{0}}});
  const std::string scale =
      inverse_deviation(out, variance, kept, number_attribute(node, "eps", 1e-5));
  const std::string value =
      out.op(op::mul, {out.op(op::sub, {node.inputs[0], mean}, x.shape), scale}, x.shape);
  finish_affine(out, value, x.shape, operands, {});
  return {};
}

Names group_norm(Expander &out, const Node &node, const TensorType &x) {
  const std::int64_t groups = integer_attribute(node, "groups", 1);
  const Shape rows{x.shape[0], groups,
                   model::elements_of(x.shape) / std::max<std::int64_t>(1, x.shape[0] * groups)};
  const Shape dims{2}, kept = keep_dims(rows, dims);
  auto operands = optional_operands(node, {"weight", "bias"});
  const std::string flat = out.op(op::reshape, {node.inputs[0]}, rows);
  const std::string mean = out.reduce(op::mean, flat, rows, dims);
  const std::string variance =
      out.reduce(op::var, flat, rows, dims, {{"correction", std::int64_t{0}}});
  const std::string scale =
      inverse_deviation(out, variance, kept, number_attribute(node, "eps", 1e-5));
  std::string value = out.op(op::mul, {out.op(op::sub, {flat, mean}, rows), scale}, rows);
  value = out.op(op::reshape, {value}, x.shape);
  finish_affine(out, value, x.shape, operands, channel_shape(x.shape));
  return {};
}

Names batch_norm(Expander &out, const Node &node, const TensorType &x) {
  if (!flag_attribute(node, "training") &&
      (is_absent(node, "running_mean") || node.inputs.size() < 3))
    return fail("batch_norm of inference without running statistics: " + node.name);
  auto operands = optional_operands(node, {"weight", "bias", "running_mean", "running_var"});
  const Shape channels = channel_shape(x.shape);
  const double epsilon = number_attribute(node, "eps", 1e-5);
  std::vector<std::string> results;
  std::string mean, scale;
  if (flag_attribute(node, "training")) {
    Shape dims;
    for (std::size_t i = 0; i < x.shape.size(); ++i)
      if (i != 1)
        dims.push_back(static_cast<std::int64_t>(i));
    mean = out.reduce(op::mean, node.inputs[0], x.shape, dims);
    const std::string variance =
        out.reduce(op::var, node.inputs[0], x.shape, dims, {{"correction", std::int64_t{0}}});
    scale = inverse_deviation(out, variance, channels, epsilon);
    if (operands.contains("running_mean") && operands.contains("running_var")) {
      const double momentum = number_attribute(node, "momentum", 0.1);
      const double count =
          static_cast<double>(model::elements_of(x.shape)) / static_cast<double>(x.shape[1]);
      const std::string unbiased =
          out.op(op::mul, {variance, out.constant(count / std::max(1.0, count - 1))}, channels);
      results = {running(out, operands["running_mean"], mean, momentum, x.shape[1]),
                 running(out, operands["running_var"], unbiased, momentum, x.shape[1])};
    }
  } else {
    mean = out.op(op::reshape, {operands["running_mean"]}, channels);
    scale = inverse_deviation(out, out.op(op::reshape, {operands["running_var"]}, channels), channels,
                              epsilon);
  }
  const std::string value =
      out.op(op::mul, {out.op(op::sub, {node.inputs[0], mean}, x.shape), scale}, x.shape);
  finish_affine(out, value, x.shape, operands, channels);
  return results;
}

} // namespace expansion
} // namespace warpwright::ops
