#include "generator/rewrites/replacement_builder.h"

#include "generator/ops/infer.h"
#include "generator/ops/names.h"

#include <algorithm>

namespace warpwright::rewrites {
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
  ops::Types operands;
  for (const std::string &input : inputs)
    operands.push_back(type(input));
  const auto types = ops::infer_types({"", op, inputs, attributes, {}}, operands);
  // An ill-formed node gets its operand's type; verification of the result reports what is wrong with it.
  return node(op, std::move(inputs), std::move(attributes), types ? types->front() : operands[0]);
}

std::string ReplacementBuilder::add(const std::string &a, const std::string &b) {
  return op(op::add, {a, b});
}

std::string ReplacementBuilder::multiply(const std::string &a, const std::string &b) {
  return op(op::mul, {a, b});
}

std::string ReplacementBuilder::scale(const std::string &x, double number) {
  return with_number(op::mul, x, number);
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

} // namespace warpwright::rewrites
