#include "generator/families/pointwise_transpose.h"

#include "generator/fusion/op_traits.h"
#include "generator/fusion/scalar_ops.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

constexpr int kTile = 32, kRows = 8;

/// A value of the outputs' shape that is only a view of memory, and whose memory runs along another dimension than the last.
struct Crossing {
  std::string value;
  std::size_t dim; ///< along which the memory is consecutive
};

/// The region input at the end of a chain of views, or empty.
std::string viewed_input(const GraphIndex &graph, const Region &region, std::string value) {
  while (std::ranges::find(region.inputs, value) == region.inputs.end()) {
    const model::Node &node = graph.node(value);
    if (!is_strided_view(node) || node.op == "expand")
      return {};
    value = node.inputs[0];
  }
  return value;
}

std::optional<Crossing> find_crossing(const GraphIndex &graph, const Region &region) {
  const model::Shape &shape = graph.node(region.outputs.at(0)).type().shape;
  const ElementWriter writer(graph, region);
  for (const std::string &output : region.outputs)
    if (graph.node(output).type().shape != shape)
      return std::nullopt;
  if (shape.size() < 2 || shape.back() < 8)
    return std::nullopt;
  for (auto name = region.nodes.rbegin(); name != region.nodes.rend(); ++name) {
    const model::Node &node = graph.node(*name);
    if (node.type().shape != shape || !is_strided_view(node) ||
        viewed_input(graph, region, *name).empty())
      continue;
    const std::int64_t last = writer.stride(*name, shape.size() - 1);
    if (last == 1)
      continue;
    for (std::size_t dim = 0; dim + 1 < shape.size(); ++dim)
      if (shape[dim] >= 8 && writer.stride(*name, dim) == 1)
        return Crossing{*name, dim};
  }
  return std::nullopt;
}

} // namespace

std::vector<Configuration> transpose_configurations(const GraphIndex &graph, const Region &region) {
  if (!find_crossing(graph, region))
    return {};
  return {{{"transpose", 1}}};
}

Result<Lowering> lower_transpose(const GraphIndex &graph, const Region &region,
                                 const Configuration &, const std::string &prefix) {
  const auto crossing = find_crossing(graph, region);
  if (!crossing)
    return fail("no operand of the region lies across its outputs");
  ElementWriter writer(graph, region);
  const model::Shape &shape = writer.stored_shape();
  const std::size_t last = shape.size() - 1, dim = crossing->dim;
  const model::Dtype dtype = graph.node(crossing->value).type().dtype;
  const std::string type = memory_type_of(dtype);
  // blockIdx.x counts tiles along the last dimension, then along the crossing one, then what is left.
  Index index(shape.size());
  std::int64_t inner = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (d == last || d == dim)
      continue;
    index[d] = "outer / " + std::to_string(inner) + " % " + std::to_string(shape[d]);
    inner *= shape[d];
  }
  writer.bound("outer", inner);
  const std::int64_t tiles_last = (shape[last] + kTile - 1) / kTile,
                     tiles_dim = (shape[dim] + kTile - 1) / kTile;
  const auto within = [&](const std::string &a, const std::string &b) {
    std::string condition;
    if (shape[dim] % kTile != 0)
      condition = a + " < " + std::to_string(shape[dim]);
    if (shape[last] % kTile != 0)
      condition += (condition.empty() ? "" : " && ") + b + " < " + std::to_string(shape[last]);
    return condition.empty() ? std::string("{\n") : "if (" + condition + ") {\n";
  };
  const auto rows = "for (int row = threadIdx.y; row < " + std::to_string(kTile) +
                    "; row += " + std::to_string(kRows) + ") {\n";
  std::string load;
  index[dim] = "a";
  index[last] = "b";
  const std::string element = writer.load(crossing->value, index, load);
  writer.bind(crossing->value, from_memory("tile[threadIdx.x][row]", dtype));
  const std::string store = writer.store(index, "");
  const std::string tile = std::to_string(kTile);
  Lowering lowering;
  lowering.source =
      "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(kTile * kRows) + ") " +
      prefix + "(" + writer.parameters() + ") {\n  __shared__ " + type + " tile[" + tile + "][" +
      std::to_string(kTile + 1) + "];\n  const int block = blockIdx.x, outer = block / " +
      std::to_string(tiles_last * tiles_dim) + ";\n  const int a0 = block / " +
      std::to_string(tiles_last) + " % " + std::to_string(tiles_dim) + " * " + tile +
      ", b0 = block % " + std::to_string(tiles_last) + " * " + tile + ";\n  (void)outer;\n" + rows +
      "const int a = a0 + threadIdx.x, b = b0 + row;\n" + within("a", "b") + load +
      "tile[row][threadIdx.x] = " + to_memory(element, dtype) + ";\n}\n}\n__syncthreads();\n" +
      rows + "const int a = a0 + row, b = b0 + threadIdx.x;\n" + within("a", "b") + store +
      "}\n}\n}\n";
  model::LaunchStep launch;
  launch.kernel = prefix;
  launch.grid = {tiles_last * tiles_dim * inner, 1, 1};
  launch.block = {kTile, kRows, 1};
  launch.arguments = writer.arguments();
  lowering.steps.push_back(std::move(launch));
  return lowering;
}

} // namespace warpwright::generator
