#include "generator/rewrites/rule_tools.h"

#include <algorithm>

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

std::string with_inputs(ReplacementBuilder &builder, const model::Node &node,
                  std::vector<std::string> inputs, model::Shape shape) {
  return builder.node(node.op, std::move(inputs), node.attributes,
                      {node.type().dtype, std::move(shape), {}});
}

} // namespace warpwright::rewrites
