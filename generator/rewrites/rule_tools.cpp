#include "generator/rewrites/rule_tools.h"

#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"

#include <algorithm>
#include <set>

namespace warpwright::rewrites {

std::optional<WithConstant> with_constant(const GraphFacts &facts, const model::Node &node) {
  if (node.inputs.size() != 2)
    return std::nullopt;
  const auto first = facts.constant(node.inputs[0]), second = facts.constant(node.inputs[1]);
  if (first.has_value() == second.has_value())
    return std::nullopt;
  return WithConstant{node.inputs[first ? 1 : 0], first ? *first : *second, first.has_value()};
}

bool same_type(const model::TensorType &a, const model::TensorType &b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

std::int64_t extent_of(const model::Shape &shape, const model::Shape &dims) {
  std::int64_t extent = 1;
  for (const std::int64_t dim : dims)
    extent *= shape[static_cast<std::size_t>(dim)];
  return extent;
}

bool contains(const model::Shape &dims, std::int64_t dim) {
  return std::ranges::find(dims, dim) != dims.end();
}

model::Shape aligned(const model::Shape &shape, std::size_t rank) {
  model::Shape result(rank - std::min(rank, shape.size()), 1);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

std::int64_t elements_of(const model::Shape &shape, std::size_t begin, std::size_t end) {
  const auto at = [&](std::size_t dim) { return shape.begin() + static_cast<std::ptrdiff_t>(dim); };
  return model::elements_of(model::Shape(at(begin), at(end)));
}

std::optional<std::int64_t> same_dim(const model::Shape &shape, std::int64_t dim,
                                     const model::Shape &other) {
  const auto at = static_cast<std::size_t>(dim);
  const std::int64_t inner = elements_of(shape, at + 1, shape.size());
  for (std::size_t i = 0; i < other.size(); ++i)
    if (other[i] == shape[at] && elements_of(other, i + 1, other.size()) == inner)
      return static_cast<std::int64_t>(i);
  return std::nullopt;
}

const model::Node &behind_views(const GraphFacts &facts, const std::string &value) {
  const model::Node *node = &facts.node(value);
  while (node->op == op::reshape || node->op == op::permute)
    node = &facts.node(node->inputs[0]);
  return *node;
}

std::optional<model::Shape> place_of_dims(const model::Shape &from, const model::Shape &to) {
  model::Shape places;
  std::size_t next = 0;
  for (const std::int64_t extent : from) {
    if (extent == 1) {
      // A dimension of extent 1 keeps its place where the other shape has one there too.
      places.push_back(next < to.size() && to[next] == 1 ? static_cast<std::int64_t>(next++) : -1);
      continue;
    }
    while (next < to.size() && to[next] == 1)
      ++next;
    if (next == to.size() || to[next] != extent)
      return std::nullopt;
    places.push_back(static_cast<std::int64_t>(next++));
  }
  while (next < to.size() && to[next] == 1)
    ++next;
  return next == to.size() ? std::optional(places) : std::nullopt;
}

bool is_mergeable_reduction(const std::string &op) {
  return op == op::sum || op == op::mean || op == op::amax || op == op::amin || op == op::prod;
}

namespace {

/// Returns the dimensions that a node reduces, or along which it normalizes; nullopt: it does neither.
std::optional<model::Shape> row_dims(const GraphFacts &facts, const model::Node &node) {
  if (node.op == op::softmax || node.op == op::log_softmax)
    return model::Shape{ops::integer_attribute(node, "dim")};
  if (ops::op_of(node).reduction == ops::Reduction::None && node.op != op::layer_norm &&
      node.op != op::logsumexp && node.op != op::norm)
    return std::nullopt;
  return ops::reduced_dims(node, facts.type(node.inputs[0]).shape.size());
}

} // namespace

std::optional<model::Shape> rows_before(const GraphFacts &facts, const std::string &value) {
  const model::Shape &shape = facts.type(value).shape;
  std::vector<std::string> open{value};
  std::set<std::string> seen;
  while (!open.empty()) {
    const model::Node &node = facts.node(open.back());
    open.pop_back();
    if (node.inputs.empty() || !seen.insert(node.name).second)
      continue;
    const model::Shape &from = facts.type(node.inputs[0]).shape;
    if (const auto dims = row_dims(facts, node)) {
      if (from == shape && dims->size() < shape.size())
        return dims;
    } else if (ops::is_pointwise(node) || node.op == op::expand ||
               (node.op == op::reshape && place_of_dims(from, node.type().shape))) {
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
  }
  return std::nullopt;
}

std::string with_inputs(ReplacementBuilder &builder, const model::Node &node,
                  std::vector<std::string> inputs, model::Shape shape) {
  return builder.node(node.op, std::move(inputs), node.attributes,
                      {node.type().dtype, std::move(shape), {}});
}

} // namespace warpwright::rewrites
