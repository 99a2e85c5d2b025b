#include "generator/ops/cost.h"

#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/attributes.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

double elements(const model::Shape &shape) {
  return static_cast<double>(model::elements_of(shape));
}

double window_of(const model::Node &node) {
  double taps = 1;
  for (const std::int64_t extent : list_attribute(node, "kernel").value_or(model::Shape{}))
    taps *= static_cast<double>(extent);
  return taps;
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
  const model::Shape &first = index.node(node.inputs[0]).type().shape;
  const double read = elements(first), written = elements(node.type().shape);
  if (node.op == op::matmul)
    cost.flops = matmul_flops(first, index.node(node.inputs[1]).type().shape);
  else if (node.op == op::conv)
    cost.flops = convolution_flops(first, index.node(node.inputs[1]).type().shape,
                                   node.type().shape, flag_attribute(node, "transposed"));
  else if (node.op == op::attention)
    cost.flops = 4 * read * static_cast<double>(index.node(node.inputs[1]).type().shape.end()[-2]);
  else if (node.op == op::avg_pool || node.op == op::max_pool)
    cost.flops = written * window_of(node);
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

} // namespace warpwright::generator
