#include "generator/elements/memory_view.h"

#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"

namespace warpwright::elements {
using model::Shape;
namespace {

/// Returns the value whose heads, the third dimension from the end, a reshape of an expand repeats; null: none.
const std::string *before_repeated_heads(const ops::GraphIndex &graph,
                                         const model::Node &repeated) {
  if (repeated.op != op::reshape || graph.node(repeated.inputs[0]).op != op::expand)
    return nullptr;
  const model::Node &expanded = graph.node(repeated.inputs[0]),
                    &inserted = graph.node(expanded.inputs[0]);
  if (inserted.op != op::reshape)
    return nullptr;
  const std::string &source = inserted.inputs[0];
  const Shape &shape = graph.node(source).type().shape, &wide = repeated.type().shape;
  const std::size_t rank = shape.size();
  if (rank < 3 || wide.size() != rank || wide[rank - 3] % shape[rank - 3] != 0)
    return nullptr;
  Shape one = shape, many = shape, all = shape;
  one.insert(one.end() - 2, 1);
  many.insert(many.end() - 2, wide[rank - 3] / shape[rank - 3]);
  all[rank - 3] = wide[rank - 3];
  return inserted.type().shape == one && expanded.type().shape == many && wide == all ? &source
                                                                                      : nullptr;
}

} // namespace

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

const std::string &unrepeated_operand(const ops::GraphIndex &graph, const model::Node &anchor,
                                      std::size_t operand) {
  const std::string &given = anchor.inputs[operand];
  if (anchor.op != op::attention || operand < 1 || operand > 2 ||
      model::size_bytes(anchor.type().dtype) != 2) // PyTorch's other kernels know no grouped heads
    return given;
  const std::string *key = before_repeated_heads(graph, graph.node(anchor.inputs[1])),
                    *value = before_repeated_heads(graph, graph.node(anchor.inputs[2]));
  if (!key || !value ||
      graph.node(*key).type().shape[graph.node(*key).type().shape.size() - 3] !=
          graph.node(*value).type().shape[graph.node(*value).type().shape.size() - 3])
    return given;
  return operand == 1 ? *key : *value;
}

} // namespace warpwright::elements
