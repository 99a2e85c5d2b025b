#include "generator/elements/memory_view.h"

#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"

namespace warpwright::elements {
using model::Shape;

MemoryView view_of(const ops::GraphIndex &graph, const std::string &value,
                   const std::map<std::string, Shape> &strides) {
  const model::Node &node = graph.node(value);
  const Shape &shape = node.type().shape;
  const auto whole = [&] {
    const auto known = strides.find(value);
    const model::TensorType type{node.type().dtype, shape,
                                 known == strides.end() ? Shape{} : known->second};
    return MemoryView{value, 0, shape, model::strides_of(type)};
  };
  if (!ops::is_strided_view(node) || strides.contains(value))
    return whole();
  MemoryView view = view_of(graph, node.inputs[0], strides);
  ops::StridedPlace place{view.offset, std::move(view.shape), std::move(view.strides)};
  if (!ops::op_of(node).strided(node, place))
    return whole();
  return {std::move(view.root), place.offset, shape, std::move(place.strides)};
}

} // namespace warpwright::elements
