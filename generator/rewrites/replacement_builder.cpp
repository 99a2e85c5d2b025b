#include "generator/rewrites/replacement_builder.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

bool is_reduction(const std::string &op) {
  static constexpr std::string_view kOps[] = {"sum", "mean", "amax",      "amin", "prod",
                                              "any", "all",  "logsumexp", "var",  "norm"};
  return std::ranges::find(kOps, op) != std::end(kOps);
}

bool is_comparison(const std::string &op) {
  static constexpr std::string_view kOps[] = {
      "eq", "ne",          "lt",         "le",          "gt",
      "ge", "logical_and", "logical_or", "logical_xor", "logical_not"};
  return std::ranges::find(kOps, op) != std::end(kOps);
}

model::Shape reduced_shape(const model::Node &node, const model::Shape &shape) {
  const model::Shape dims = reduced_dims(node, shape.size());
  const bool keepdim = flag_attribute(node, "keepdim");
  model::Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool reduced = std::ranges::find(dims, static_cast<std::int64_t>(i)) != dims.end();
    if (!reduced || keepdim)
      result.push_back(reduced ? 1 : shape[i]);
  }
  return result;
}

model::Shape matmul_shape(const model::Shape &a, const model::Shape &b) {
  model::Shape shape =
      broadcast(model::Shape(a.begin(), a.end() - 2), model::Shape(b.begin(), b.end() - 2));
  shape.push_back(a[a.size() - 2]);
  shape.push_back(b.back());
  return shape;
}

} // namespace

model::Shape broadcast(const model::Shape &a, const model::Shape &b) {
  model::Shape shape = a.size() >= b.size() ? a : b;
  const model::Shape &other = a.size() >= b.size() ? b : a;
  for (std::size_t i = 0; i < other.size(); ++i)
    if (std::int64_t &extent = shape[shape.size() - other.size() + i]; extent == 1)
      extent = other[i];
  return shape;
}

const model::TensorType &ReplacementBuilder::type(const std::string &value) const {
  const auto found = std::ranges::find(nodes_, value, &model::Node::name);
  return found != nodes_.end() ? found->type() : facts_.type(value);
}

std::string ReplacementBuilder::node(const std::string &op, std::vector<std::string> inputs,
                                     model::Attributes attributes, model::TensorType type) {
  std::string name;
  for (std::size_t number = nodes_.size() + 1; name.empty(); ++number) {
    const std::string candidate = replaced_.name + "_" + std::to_string(number);
    const auto has_it = [&](const std::vector<model::Node> &nodes) {
      return std::ranges::find(nodes, candidate, &model::Node::name) != nodes.end();
    };
    if (!has_it(nodes_) && !has_it(facts_.index().graph().nodes))
      name = candidate;
  }
  type.strides.clear();
  nodes_.push_back({name, op, std::move(inputs), std::move(attributes), {std::move(type)}});
  return name;
}

std::string ReplacementBuilder::op(const std::string &op, std::vector<std::string> inputs,
                                   model::Attributes attributes) {
  const model::Node shape_of{"", op, inputs, attributes, {}};
  model::TensorType result = type(inputs[op == op::where ? 1 : 0]);
  const model::Shape first = type(inputs[0]).shape;
  if (op == op::matmul)
    result.shape = matmul_shape(first, type(inputs[1]).shape);
  else if (is_reduction(op))
    result.shape = reduced_shape(shape_of, first);
  else if (op == op::permute) {
    const model::Shape dims = list_attribute(shape_of, "dims").value_or(model::Shape{});
    for (std::size_t i = 0; i < dims.size(); ++i)
      result.shape[i] = first[static_cast<std::size_t>(dims[i])];
  } else if (op == op::slice) {
    const auto dim = static_cast<std::size_t>(integer_attribute(shape_of, "dim"));
    const std::int64_t step = integer_attribute(shape_of, "step", 1);
    result.shape[dim] =
        (integer_attribute(shape_of, "stop") - integer_attribute(shape_of, "start") + step - 1) /
        step;
  } else if (op == op::cat) {
    const auto dim = static_cast<std::size_t>(integer_attribute(shape_of, "dim"));
    for (std::size_t i = 1; i < inputs.size(); ++i)
      result.shape[dim] += type(inputs[i]).shape[dim];
  } else if (op == op::pad) {
    const model::Shape low = list_attribute(shape_of, "low", first.size(), 0),
                       high = list_attribute(shape_of, "high", first.size(), 0);
    for (std::size_t i = 0; i < first.size(); ++i)
      result.shape[i] += low[i] + high[i];
  } else if (op != op::softmax && op != op::log_softmax && op != op::triu && op != op::tril)
    for (const std::string &input : inputs)
      result.shape = broadcast(result.shape, type(input).shape);
  if (is_comparison(op) || op == op::any || op == op::all)
    result.dtype = model::Dtype::Bool;
  return node(op, std::move(inputs), std::move(attributes), std::move(result));
}

std::string ReplacementBuilder::reshape(const std::string &x, model::Shape shape) {
  const model::TensorType from = type(x);
  return from.shape == shape ? x : node(op::reshape, {x}, {}, {from.dtype, std::move(shape), {}});
}

std::string ReplacementBuilder::expand(const std::string &x, model::Shape shape) {
  const model::TensorType from = type(x);
  return from.shape == shape ? x : node(op::expand, {x}, {}, {from.dtype, std::move(shape), {}});
}

std::string ReplacementBuilder::cast(const std::string &x, model::Dtype dtype) {
  const model::TensorType from = type(x);
  return from.dtype == dtype ? x : node(op::cast, {x}, {}, {dtype, from.shape, {}});
}

std::string ReplacementBuilder::permute(const std::string &x, model::Shape dims) {
  return std::ranges::is_sorted(dims) ? x : op(op::permute, {x}, {{"dims", std::move(dims)}});
}

std::string ReplacementBuilder::slice(const std::string &x, std::int64_t dim, std::int64_t start,
                                      std::int64_t stop, std::int64_t step) {
  if (start == 0 && stop == type(x).shape[static_cast<std::size_t>(dim)] && step == 1)
    return x;
  return op(op::slice, {x}, {{"dim", dim}, {"start", start}, {"stop", stop}, {"step", step}});
}

std::string ReplacementBuilder::reduce(const std::string &reduction, const std::string &x,
                                       model::Shape dims, bool keepdim) {
  if (dims.empty())
    return x;
  return op(reduction, {x}, {{"dims", std::move(dims)}, {"keepdim", keepdim}});
}

std::string ReplacementBuilder::constant(double value, model::Dtype dtype) {
  return node(op::constant, {}, {{"value", value}}, {dtype, {}, {}});
}

std::string ReplacementBuilder::uniform(double value, const model::TensorType &type) {
  return expand(constant(value, type.dtype), type.shape);
}

std::string ReplacementBuilder::with_number(const std::string &binary, const std::string &x,
                                            double number) {
  return op(binary, {x, constant(number, type(x).dtype)});
}

Replacement ReplacementBuilder::finish(std::string value) {
  value = reshape(cast(value, replaced_.type().dtype), replaced_.type().shape);
  return {std::move(nodes_), std::move(value)};
}

} // namespace warpwright::generator
