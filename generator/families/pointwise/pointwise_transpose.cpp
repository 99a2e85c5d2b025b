#include "generator/families/pointwise/pointwise_transpose.h"

#include "generator/elements/memory_view.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>
#include <optional>
#include <set>

namespace warpwright::families::pointwise {
namespace {

constexpr int kTile = 32, kRows = 8;

/// A view of memory in the outputs' shape, whose fastest dimension in memory differs from the outputs'.
struct Crossing {
  std::string value;
  /// Adjacent dimensions, slowest first, that are one dimension in
  /// both memories: the value's fastest and the outputs' fastest.
  std::vector<std::size_t> along, fast;
};

/// Returns the values whose elements depend on elements of equal dense inputs at their own place,
/// and on smaller tensors.
std::set<std::string> computed_in_order(const ops::GraphIndex &graph,
                                        const elements::Region &region) {
  std::set<std::string> found;
  for (const std::string &name : region.nodes) {
    const model::Node &node = graph.node(name);
    const auto is_in_order = [&](const std::string &input) {
      const model::Node &operand = graph.node(input), *source = &operand;
      while (source->op == op::expand || ops::is_strided_view(*source))
        source = &graph.node(source->inputs[0]);
      if (model::elements_of(source->type().shape) < model::elements_of(node.type().shape))
        return true;
      const elements::MemoryView view = elements::view_of(graph, input, region.strides);
      const bool is_dense = std::ranges::find(region.inputs, view.root) != region.inputs.end() &&
                            model::is_contiguous({operand.type().dtype, view.shape, view.strides});
      return operand.type().shape == node.type().shape && (is_dense || found.contains(input));
    };
    if (ops::is_pointwise(node) && std::ranges::all_of(node.inputs, is_in_order))
      found.insert(name);
  }
  return found;
}

/// True for a node whose neighbors along any dimension are mostly neighbors in its operand, along the same dimension.
bool keeps_neighbors(const model::Node &node) {
  return node.op == op::pad || node.op == op::slice || node.op == op::flip ||
         node.op == op::index_select || node.op == op::upsample_nearest || node.op == op::cat;
}

/// Returns the distances in memory between neighbors of a view of a region input, of what a region computes in an
/// input's order, or of an input from which a value takes its elements; 0 for dimensions without neighbors. nullopt:
/// another value, or one with repeated elements.
/// @param in_order as computed_in_order() returns
std::optional<model::Shape> strides_of_view(const ops::GraphIndex &graph,
                                            const elements::Region &region,
                                            const elements::ElementWriter &writer,
                                            const std::set<std::string> &in_order,
                                            const std::string &value) {
  std::string root = value;
  while (std::ranges::find(region.inputs, root) == region.inputs.end()) {
    const model::Node &node = graph.node(root);
    if (node.op == op::expand)
      return std::nullopt;
    if (!ops::is_strided_view(node) && node.op != op::layout)
      break;
    root = node.inputs[0];
  }
  const model::Node &own = graph.node(value);
  const bool is_computed = std::ranges::find(region.inputs, root) == region.inputs.end();
  if (is_computed && keeps_neighbors(own)) {
    const auto strides_of = [&](const std::string &operand) {
      return strides_of_view(graph, region, writer, in_order, operand);
    };
    const std::size_t parts = own.op == op::cat ? own.inputs.size() : 1;
    const auto strides = strides_of(own.inputs[0]);
    for (std::size_t i = 1; i < parts && strides; ++i)
      if (strides_of(own.inputs[i]) != strides)
        return std::nullopt;
    return strides;
  }
  if (is_computed) {
    const elements::MemoryView view = elements::view_of(graph, value, region.strides);
    if (view.root != root || !in_order.contains(root))
      return std::nullopt;
    return view.strides;
  }
  model::Shape strides;
  for (std::size_t d = 0; d < graph.node(value).type().shape.size(); ++d)
    strides.push_back(writer.stride(value, d));
  return strides;
}

std::int64_t extent(const std::vector<std::size_t> &dims, const model::Shape &shape) {
  std::int64_t product = 1;
  for (const std::size_t dim : dims)
    product *= shape[dim];
  return product;
}

/// @param in,out distances between neighbors in the memories of the value and of the outputs
std::optional<Crossing> crossing_of(const std::string &value, const model::Shape &shape,
                                    const model::Shape &in, const model::Shape &out) {
  std::optional<std::size_t> along, fast;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 2)
      continue;
    if (in[d] == 1)
      along = d;
    if (out[d] == 1)
      fast = d;
  }
  if (!along || !fast || along == fast)
    return std::nullopt;
  const auto joined = [&](std::size_t from) {
    std::vector<std::size_t> dims{from};
    for (std::size_t d = from; d-- > 0;) {
      const std::size_t inner = dims.front();
      if (shape[d] < 2 || in[d] != in[inner] * shape[inner] || out[d] != out[inner] * shape[inner])
        break;
      dims.insert(dims.begin(), d);
    }
    return dims;
  };
  Crossing crossing{value, joined(*along), joined(*fast)};
  if (extent(crossing.along, shape) < 8 || extent(crossing.fast, shape) < 8)
    return std::nullopt;
  return crossing;
}

/// True if all nodes that depend on the value read it at the same positions as the outputs.
bool stays_in_place(const ops::GraphIndex &graph, const elements::Region &region,
                    const std::string &value) {
  const model::Shape &shape = graph.node(value).type().shape;
  std::vector<std::string> dependent{value};
  for (const std::string &name : region.nodes) {
    const model::Node &node = graph.node(name);
    if (name == value || std::ranges::none_of(node.inputs, [&](const std::string &input) {
          return std::ranges::find(dependent, input) != dependent.end();
        }))
      continue;
    if (node.type().shape != shape || (!ops::is_pointwise(node) && node.op != op::layout))
      return false;
    dependent.push_back(name);
  }
  return true;
}

std::optional<Crossing> find_crossing(const ops::GraphIndex &graph,
                                      const elements::Region &region) {
  const model::TensorType type = elements::region_type(graph, region, region.outputs.at(0));
  const model::Shape strides = model::strides_of(type);
  for (const std::string &output : region.outputs)
    if (const model::TensorType other = elements::region_type(graph, region, output);
        other.shape != type.shape || model::strides_of(other) != strides)
      return std::nullopt;
  const elements::ElementWriter writer(graph, region);
  const std::set<std::string> in_order = computed_in_order(graph, region);
  std::vector<std::string> values(region.nodes.rbegin(), region.nodes.rend());
  values.insert(values.end(), region.inputs.begin(), region.inputs.end());
  for (const std::string &value : values)
    if (graph.node(value).type().shape == type.shape && stays_in_place(graph, region, value))
      if (const auto in = strides_of_view(graph, region, writer, in_order, value))
        if (auto crossing = crossing_of(value, type.shape, *in, strides))
          return crossing;
  return std::nullopt;
}

} // namespace

std::vector<elements::Configuration> transpose_configurations(const ops::GraphIndex &graph,
                                                              const elements::Region &region) {
  if (!find_crossing(graph, region))
    return {};
  return {{{"transpose", 1}}};
}

Result<elements::Lowering> lower_transpose(const ops::GraphIndex &graph,
                                           const elements::Region &region,
                                           const elements::Configuration &,
                                           const std::string &prefix) {
  const auto crossing = find_crossing(graph, region);
  if (!crossing)
    return fail("no operand of the region lies across its outputs");
  elements::ElementWriter writer(graph, region);
  const model::Shape &shape = writer.stored_shape();
  const model::Dtype dtype = graph.node(crossing->value).type().dtype;
  const std::string type = ops::memory_type_of(dtype);
  // blockIdx.x counts tiles along the outputs' fast dimensions, then along the value's, then the remaining elements.
  elements::Index index(shape.size());
  const auto spread = [&](const std::string &variable, const std::vector<std::size_t> &dims) {
    std::int64_t inner = 1;
    for (std::size_t i = dims.size(); i-- > 0; inner *= shape[dims[i]])
      index[dims[i]] =
          variable + " / " + std::to_string(inner) + " % " + std::to_string(shape[dims[i]]);
    writer.bound(variable, inner);
    return inner;
  };
  std::vector<std::size_t> others;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (std::ranges::find(crossing->along, d) == crossing->along.end() &&
        std::ranges::find(crossing->fast, d) == crossing->fast.end())
      others.push_back(d);
  const std::int64_t along = spread("a", crossing->along), fast = spread("b", crossing->fast),
                     outer = spread("outer", others);
  const std::int64_t tiles_along = (along + kTile - 1) / kTile,
                     tiles_fast = (fast + kTile - 1) / kTile;
  std::string within;
  if (along % kTile != 0)
    within = "a < " + std::to_string(along);
  if (fast % kTile != 0)
    within += (within.empty() ? "" : " && ") + std::string("b < ") + std::to_string(fast);
  within = within.empty() ? "{\n" : "if (" + within + ") {\n";
  const auto rows = "for (int row = threadIdx.y; row < " + std::to_string(kTile) +
                    "; row += " + std::to_string(kRows) + ") {\n";
  std::string load;
  const std::string element = writer.load(crossing->value, index, load);
  writer.bind(crossing->value, ops::from_memory("tile[threadIdx.x][row]", dtype));
  const std::string store = writer.store(index, "");
  const std::string tile = std::to_string(kTile);
  elements::Lowering lowering;
  lowering.source =
      "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(kTile * kRows) + ") " +
      prefix + "(" + writer.parameters() + ") {\n  __shared__ " + type + " tile[" + tile + "][" +
      std::to_string(kTile + 1) + "];\n  const int block = blockIdx.x, outer = block / " +
      std::to_string(tiles_fast * tiles_along) + ";\n  const int a0 = block / " +
      std::to_string(tiles_fast) + " % " + std::to_string(tiles_along) + " * " + tile +
      ", b0 = block % " + std::to_string(tiles_fast) + " * " + tile + ";\n  (void)outer;\n" + rows +
      "const int a = a0 + threadIdx.x, b = b0 + row;\n" + within + load +
      "tile[row][threadIdx.x] = " + ops::to_memory(element, dtype) + ";\n}\n}\n__syncthreads();\n" +
      rows + "const int a = a0 + row, b = b0 + threadIdx.x;\n" + within + store + "}\n}\n}\n";
  model::LaunchStep launch;
  launch.kernel = prefix;
  launch.grid = {tiles_fast * tiles_along * outer, 1, 1};
  launch.block = {kTile, kRows, 1};
  launch.arguments = writer.arguments();
  lowering.steps.push_back(std::move(launch));
  return lowering;
}

} // namespace warpwright::families::pointwise
