#include "generator/elements/memory_view.h"

#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/attributes.h"

#include <algorithm>
#include <optional>

namespace warpwright::generator {
namespace {

using model::Shape;

/// The strides with which `to` shows the same elements in the same order, where there are such strides.
std::optional<Shape> reshaped_strides(const Shape &from, const Shape &strides, const Shape &to) {
  Shape result(to.size(), 1);
  std::size_t at = to.size();
  std::int64_t chunk = 1, base = 1; // of the dimensions of `from` that belong together
  bool first = true;
  for (std::size_t i = from.size(); i-- > 0;) {
    if (from[i] == 1)
      continue;
    if (first) {
      base = strides[i];
      first = false;
    }
    chunk *= from[i];
    std::size_t next = i; // the next dimension that counts
    while (next > 0 && from[next - 1] == 1)
      --next;
    if (next > 0 && strides[next - 1] == from[i] * strides[i])
      continue;
    std::int64_t seen = 1;
    while (at > 0 && (seen < chunk || to[at - 1] == 1)) {
      --at;
      result[at] = base * seen;
      seen *= to[at];
    }
    if (seen != chunk)
      return std::nullopt;
    if (next > 0)
      base = strides[next - 1];
    chunk = 1;
  }
  while (at > 0 && to[at - 1] == 1)
    result[--at] = 1;
  return at == 0 ? std::optional(result) : std::nullopt;
}

} // namespace

MemoryView view_of(const GraphIndex &graph, const std::string &value,
                   const std::map<std::string, Shape> &strides) {
  const model::Node &node = graph.node(value);
  const Shape &shape = node.type().shape;
  const auto whole = [&] {
    const auto known = strides.find(value);
    const model::TensorType type{node.type().dtype, shape,
                                 known == strides.end() ? Shape{} : known->second};
    return MemoryView{value, 0, shape, model::strides_of(type)};
  };
  if (!is_strided_view(node) || strides.contains(value))
    return whole();
  MemoryView view = view_of(graph, node.inputs[0], strides);
  if (node.op == op::permute) {
    MemoryView moved = view;
    const Shape dims = *list_attribute(node, "dims");
    for (std::size_t d = 0; d < dims.size(); ++d)
      moved.strides[d] = view.strides[dims[d]];
    view = std::move(moved);
  } else if (node.op == op::expand) {
    Shape wide(shape.size(), 0);
    const std::size_t lead = shape.size() - view.shape.size();
    for (std::size_t d = 0; d < view.shape.size(); ++d)
      wide[lead + d] = view.shape[d] == shape[lead + d] ? view.strides[d] : 0;
    view.strides = std::move(wide);
  } else if (node.op == op::slice) {
    const std::size_t dim = integer_attribute(node, "dim");
    view.offset += integer_attribute(node, "start") * view.strides[dim];
    view.strides[dim] *= integer_attribute(node, "step", 1);
  } else {
    const auto changed = reshaped_strides(view.shape, view.strides, shape);
    if (!changed)
      return whole();
    view.strides = *changed;
  }
  view.shape = shape;
  return view;
}

} // namespace warpwright::generator
