#include "generator/ops/cost.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"

#include <algorithm>

namespace warpwright::ops {
namespace {

double elements(const model::Shape &shape) {
  return static_cast<double>(model::elements_of(shape));
}

} // namespace

double bytes_of(const model::TensorType &type) {
  return elements(type.shape) * static_cast<double>(model::size_bytes(type.dtype));
}

double matmul_flops(const model::Shape &a, const model::Shape &b) {
  double batches = 1;
  for (std::size_t i = 2; i < std::max(a.size(), b.size()); ++i) {
    const std::int64_t of_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t of_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    batches *= static_cast<double>(std::max(of_a, of_b));
  }
  return 2 * batches * static_cast<double>(a[a.size() - 2]) * static_cast<double>(a.back()) *
         static_cast<double>(b.back());
}

double convolution_flops(const model::Shape &x, const model::Shape &weight,
                         const model::Shape &result, bool transposed) {
  // Each element of the weight beyond the first dimension meets each element of the result; transposed, of the input.
  return 2 * elements(transposed ? x : result) * elements(weight) / static_cast<double>(weight[0]);
}

namespace flops {

namespace {

const model::Shape &operand(const GraphIndex &index, const model::Node &node, std::size_t which) {
  return index.node(node.inputs[which]).type().shape;
}

} // namespace

double matmul(const GraphIndex &index, const model::Node &node) {
  return matmul_flops(operand(index, node, 0), operand(index, node, 1));
}

double convolution(const GraphIndex &index, const model::Node &node) {
  return convolution_flops(operand(index, node, 0), operand(index, node, 1), node.type().shape,
                           flag_attribute(node, "transposed"));
}

double attention(const GraphIndex &index, const model::Node &node) {
  return 4 * elements(operand(index, node, 0)) *
         static_cast<double>(operand(index, node, 1).end()[-2]);
}

double pool(const GraphIndex &, const model::Node &node) {
  double taps = 1;
  for (const std::int64_t extent : list_attribute(node, "kernel").value_or(model::Shape{}))
    taps *= static_cast<double>(extent);
  return elements(node.type().shape) * taps;
}

} // namespace flops

Cost cost_of(const GraphIndex &index, const model::Node &node) {
  if (is_buffer_leaf(node) || is_generated(node) || is_view(node) || node.op == op::item)
    return {};
  Cost cost;
  for (const std::string &input : node.inputs)
    cost.bytes += bytes_of(index.node(input).type());
  for (const model::TensorType &type : node.types)
    cost.bytes += bytes_of(type);
  if (node.op == op::aten || node.inputs.empty())
    return cost;
  const double read = elements(index.node(node.inputs[0]).type().shape),
               written = elements(node.type().shape);
  if (const Flops flops = op_of(node).flops)
    cost.flops = flops(index, node);
  else if (is_pointwise(node))
    cost.flops = written;
  else
    cost.flops = std::max(read, written);
  return cost;
}

Cost cost_of(const model::Graph &graph) {
  const GraphIndex index(graph);
  Cost total;
  for (const model::Node &node : graph.nodes) {
    const Cost cost = cost_of(index, node);
    total.flops += cost.flops;
    total.bytes += cost.bytes;
  }
  return total;
}

} // namespace warpwright::ops
