#include "generator/families/pointwise/pointwise_transpose.h"

#include "generator/elements/memory_view.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace warpwright::families::pointwise {
namespace {

constexpr int kTile = 32, kRows = 8;
constexpr std::size_t kMostTiles = 6;

/// Values in the outputs' shape whose fastest dimension in memory, or in the memory that they are computed from, differs
/// from the outputs'.
struct Crossing {
  std::vector<std::string> values;
  /// Adjacent dimensions, slowest first, that are one dimension in
  /// both memories: the values' fastest and the outputs' fastest.
  std::vector<std::size_t> along, fast;
};

/// True for a node whose neighbors along any dimension are mostly neighbors in its operand, along the same dimension.
bool keeps_neighbors(const model::Node &node) {
  return node.op == op::pad || node.op == op::slice || node.op == op::flip ||
         node.op == op::index_select || node.op == op::upsample_nearest;
}

/// The order in which the values of a region read memory.
class ReadingOrder {
public:
  ReadingOrder(const ops::GraphIndex &graph, const elements::Region &region)
      : graph_(graph), region_(region), writer_(graph, region) {}

  /// Returns the distances in the memory of an input between what neighbors of a value are computed from; 0 for
  /// dimensions without neighbors. nullopt: a value with repeated elements, or one that reads several orders.
  std::optional<model::Shape> of(const std::string &value) {
    const auto found = known_.find(value);
    return found != known_.end() ? found->second : known_[value] = computed(value);
  }

private:
  bool is_input(const std::string &value) const {
    return std::ranges::find(region_.inputs, value) != region_.inputs.end();
  }

  std::optional<model::Shape> computed(const std::string &value) {
    const model::Node &node = graph_.node(value);
    std::string root = value;
    while (!is_input(root) &&
           (ops::is_strided_view(graph_.node(root)) || graph_.node(root).op == op::layout))
      root = graph_.node(root).inputs[0];
    if (is_input(root)) {
      model::Shape strides;
      for (std::size_t d = 0; d < node.type().shape.size(); ++d)
        strides.push_back(writer_.stride(value, d));
      return strides;
    }
    if (keeps_neighbors(node))
      return of(node.inputs[0]);
    if (node.op == op::cat || ops::is_pointwise(node))
      return common(node);
    return root == value || node.op == op::expand ? std::nullopt : of_view(value);
  }

  /// Returns the order of the operands that are as large as the node, or as its parts: one fastest dimension.
  std::optional<model::Shape> common(const model::Node &node) {
    std::optional<model::Shape> first;
    for (const std::string &input : node.inputs) {
      if (node.op != op::cat && is_smaller(input, node.type().shape))
        continue;
      const auto strides = of(input);
      if (!strides || strides->size() != node.type().shape.size() ||
          (first && fastest(*first, node.type().shape) != fastest(*strides, node.type().shape)))
        return std::nullopt;
      if (!first)
        first = strides;
    }
    return first;
  }
  bool is_smaller(const std::string &value, const model::Shape &shape) const {
    const model::Node *source = &graph_.node(value);
    while (source->op == op::expand || ops::is_strided_view(*source))
      source = &graph_.node(source->inputs[0]);
    return model::elements_of(source->type().shape) < model::elements_of(shape);
  }
  static std::optional<std::size_t> fastest(const model::Shape &strides,
                                            const model::Shape &shape) {
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] > 1 && strides[d] == 1)
        return d;
    return std::nullopt;
  }

  /// Returns the order of a view of a value that the region computes.
  std::optional<model::Shape> of_view(const std::string &value) {
    const elements::MemoryView view = elements::view_of(graph_, value, region_.strides);
    const auto order = view.root == value ? std::nullopt : of(view.root);
    if (!order)
      return std::nullopt;
    const model::TensorType type = elements::region_type(graph_, region_, view.root);
    const model::Shape dense = model::strides_of(type);
    model::Shape strides;
    for (std::size_t at = 0; at < view.strides.size(); ++at) {
      const std::int64_t stride = view.strides[at];
      if (stride == 0 && view.shape[at] > 1)
        return std::nullopt;
      std::int64_t in_memory = 0;
      for (std::size_t d = 0; d < dense.size(); ++d)
        if (type.shape[d] > 1 && dense[d] > 0 && stride % dense[d] == 0 &&
            stride / dense[d] < type.shape[d])
          in_memory = (*order)[d] * (stride / dense[d]);
      strides.push_back(in_memory);
    }
    return strides;
  }

  const ops::GraphIndex &graph_;
  const elements::Region &region_;
  const elements::ElementWriter writer_;
  std::map<std::string, std::optional<model::Shape>> known_;
};

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
  Crossing crossing{{value}, joined(*along), joined(*fast)};
  if (extent(crossing.along, shape) < 8 || extent(crossing.fast, shape) < 8)
    return std::nullopt;
  return crossing;
}

/// Finds the values that tiles hold: the last ones in the outputs' order that are computed across it.
class TileSearch {
public:
  TileSearch(const ops::GraphIndex &graph, const elements::Region &region)
      : graph_(graph), region_(region), order_(graph, region),
        type_(elements::region_type(graph, region, region.outputs.at(0))),
        strides_(model::strides_of(type_)) {}

  std::optional<Crossing> found() {
    for (const std::string &output : region_.outputs)
      if (const model::TensorType other = elements::region_type(graph_, region_, output);
          other.shape != type_.shape || model::strides_of(other) != strides_)
        return std::nullopt;
    for (;;) {
      crossing_.reset();
      visited_.clear();
      elsewhere_.clear();
      for (const std::string &output : region_.outputs)
        visit(output);
      if (!crossing_)
        return std::nullopt;
      std::set<std::string> read; // at other places, or by smaller values, where tiles do not help
      for (const std::string &value : elsewhere_)
        add_operands(value, read);
      const std::size_t refused = refused_.size();
      for (const std::string &value : crossing_->values)
        if (read.contains(value))
          refused_.insert(value);
      if (refused_.size() == refused)
        return crossing_;
    }
  }

private:
  bool is_computed(const std::string &value) const {
    return std::ranges::find(region_.nodes, value) != region_.nodes.end();
  }

  void visit(const std::string &value) {
    if (!visited_.insert(value).second)
      return;
    const model::Node &node = graph_.node(value);
    const bool in_place = node.type().shape == type_.shape;
    if (in_place && !refused_.contains(value) &&
        (!crossing_ || crossing_->values.size() < kMostTiles))
      if (const auto in = order_.of(value))
        if (auto here = crossing_of(value, type_.shape, *in, strides_)) {
          if (!crossing_) {
            crossing_ = std::move(here);
            return;
          }
          if (here->along == crossing_->along && here->fast == crossing_->fast) {
            crossing_->values.push_back(value);
            return;
          }
        }
    if (in_place && is_computed(value) && (ops::is_pointwise(node) || node.op == op::layout))
      std::ranges::for_each(node.inputs, [&](const std::string &input) { visit(input); });
    else
      elsewhere_.push_back(value);
  }

  void add_operands(const std::string &value, std::set<std::string> &operands) const {
    if (!operands.insert(value).second || !is_computed(value))
      return;
    for (const std::string &input : graph_.node(value).inputs)
      add_operands(input, operands);
  }

  const ops::GraphIndex &graph_;
  const elements::Region &region_;
  ReadingOrder order_;
  const model::TensorType type_;
  const model::Shape strides_;
  std::optional<Crossing> crossing_;
  std::set<std::string> visited_, refused_;
  std::vector<std::string> elsewhere_;
};

} // namespace

std::vector<elements::Configuration> transpose_configurations(const ops::GraphIndex &graph,
                                                              const elements::Region &region) {
  if (!TileSearch(graph, region).found())
    return {};
  return {{{"transpose", 1}}};
}

Result<elements::Lowering> lower_transpose(const ops::GraphIndex &graph,
                                           const elements::Region &region,
                                           const elements::Configuration &,
                                           const std::string &prefix) {
  const auto crossing = TileSearch(graph, region).found();
  if (!crossing)
    return fail("no operand of the region lies across its outputs");
  elements::ElementWriter writer(graph, region);
  const model::Shape &shape = writer.stored_shape();
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
  const auto rows = "#pragma unroll\nfor (int step = 0; step < " + std::to_string(kTile / kRows) +
                    "; ++step) {\nconst int row = threadIdx.y + step * " + std::to_string(kRows) +
                    ";\n";
  const std::string tile = std::to_string(kTile);
  std::string tiles, load, loaded;
  for (const std::string &value : crossing->values) {
    const model::Dtype dtype = graph.node(value).type().dtype;
    const std::string name = "tile_" + value;
    tiles += "  __shared__ " + ops::memory_type_of(dtype) + " " + name + "[" + tile + "][" +
             std::to_string(kTile + 1) + "];\n";
    const std::string element = writer.load(value, index, load);
    loaded += name + "[row][threadIdx.x] = " + ops::to_memory(element, dtype) + ";\n";
  }
  for (const std::string &value : crossing->values)
    writer.bind(value, ops::from_memory("tile_" + value + "[threadIdx.x][row]",
                                        graph.node(value).type().dtype));
  const std::string store = writer.store(index, "");
  elements::Lowering lowering;
  lowering.source =
      "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(kTile * kRows) + ") " +
      prefix + "(" + writer.parameters() + ") {\n" + tiles +
      "  const int block = blockIdx.x, outer = block / " +
      std::to_string(tiles_fast * tiles_along) + ";\n  const int a0 = block / " +
      std::to_string(tiles_fast) + " % " + std::to_string(tiles_along) + " * " + tile +
      ", b0 = block % " + std::to_string(tiles_fast) + " * " + tile + ";\n  (void)outer;\n" + rows +
      "const int a = a0 + threadIdx.x, b = b0 + row;\n" + within + load + loaded +
      "}\n}\n__syncthreads();\n" + rows + "const int a = a0 + row, b = b0 + threadIdx.x;\n" +
      within + store + "}\n}\n}\n";
  model::LaunchStep launch;
  launch.kernel = prefix;
  launch.grid = {tiles_fast * tiles_along * outer, 1, 1};
  launch.block = {kTile, kRows, 1};
  launch.arguments = writer.arguments();
  lowering.steps.push_back(std::move(launch));
  return lowering;
}

} // namespace warpwright::families::pointwise
