// The scatter family: scatter_add over any dimension, as graph layers, histograms and the routing of experts have it.
//
// One kernel writes what is added to, the next adds each element of the source by an atomic operation. Sources and
// indices are computed in place, so the messages along a graph's edges never lie in memory. Where neighbors of the
// last dimension go to one row, which is what rows of features do, a thread adds a vector at once. Sums have no fixed
// order, as PyTorch's own: a plan is not used where deterministic algorithms are asked for. Omits: other
// reductions than the sum.
#include "generator/families/scatter/scatter.h"

#include "generator/elements/window_text.h"
#include "generator/ops/attributes.h"
#include "generator/ops/op.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>
#include <array>

namespace warpwright::families::scatter {
namespace {

using model::Dtype;

constexpr std::int64_t kMostElements = std::int64_t{1} << 31; ///< index texts are of type int

std::size_t dim_of(const model::Node &anchor) {
  return static_cast<std::size_t>(ops::integer_attribute(anchor, "dim"));
}

bool claims(const ops::GraphIndex &graph, const model::Node &anchor) {
  if (ops::op_of(anchor).kind != ops::Kind::Scatter || anchor.type().shape.empty())
    return false;
  const auto fits = [](const model::Shape &shape) {
    const std::int64_t elements = model::elements_of(shape);
    return elements > 0 && elements < kMostElements;
  };
  constexpr std::array kDtypes = {Dtype::Float32,  Dtype::Float64, Dtype::Float16,
                                  Dtype::BFloat16, Dtype::Int32,   Dtype::Int64};
  return std::ranges::find(kDtypes, anchor.type().dtype) != kDtypes.end() &&
         fits(anchor.type().shape) && fits(graph.node(anchor.inputs[1]).type().shape);
}

/// Returns the indices of `width` consecutive elements of a shape, from `width * i` on.
std::vector<elements::Index> lanes_of(const model::Shape &shape, int width) {
  std::vector<elements::Index> lanes;
  for (int lane = 0; lane < width; ++lane)
    lanes.push_back(elements::unflatten(
        width == 1 ? "i" : "(" + std::to_string(width) + " * i + " + std::to_string(lane) + ")",
        shape));
  return lanes;
}

/// Returns the largest number of neighbors that go to neighbors: whole vectors of the last dimension with one index.
int row_width(const ops::GraphIndex &graph, const elements::Region &region) {
  const model::Node &anchor = graph.node(region.anchor);
  const model::Shape &from = graph.node(anchor.inputs[1]).type().shape, &to = anchor.type().shape;
  if (dim_of(anchor) + 1 == to.size() || region.strides.contains(anchor.name))
    return 1;
  for (const int width : {8, 4, 2}) {
    if (from.back() % width != 0 || to.back() % width != 0 ||
        width * model::size_bytes(anchor.type().dtype) > 16)
      continue;
    elements::ElementWriter writer(graph, region);
    writer.bound("i", model::elements_of(from) / width);
    std::string before;
    const auto rows = writer.load(anchor.inputs[1], lanes_of(from, width), before);
    if (std::ranges::all_of(rows, [&](const std::string &row) { return row == rows[0]; }))
      return width;
  }
  return 1;
}

/// Whether GPUs with additions of vectors have one of so many elements.
bool adds_vectors(Dtype dtype, int width) {
  return (dtype == Dtype::Float32 && (width == 2 || width == 4)) ||
         (ops::is_half(dtype) && (width == 4 || width == 8));
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &graph,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  std::vector<elements::Configuration> result;
  const int widest = row_width(graph, region);
  const Dtype dtype = graph.node(region.anchor).type().dtype;
  // Without vectors, threads side by side add side by side.
  for (const int width : {widest, ops::is_half(dtype) ? std::min(widest, 2) : 1, 1})
    for (const int threads : {256, 128, 512})
      if (const elements::Configuration one{
              {"width", width},
              {"threads", threads},
              {"vectors", device.vector_atomics && adds_vectors(dtype, width)}};
          std::ranges::find(result, one) == result.end())
        result.push_back(one);
  return result;
}

constexpr const char *kDevice = "\n"
#include "generator/device/scatter.cuh.inc"
    ;

constexpr const char *kVectors = "\n"
#include "generator/device/scatter_vectors.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  const int i = blockIdx.x * @THREADS@ + threadIdx.x;
  if (i >= @COUNT@)
    return;
@BODY@}
)cuda";

Result<elements::Lowering> lower(const ops::GraphIndex &graph, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  const auto settings = elements::settings_of(
      configuration, {{"width", 1, 8}, {"threads", 32, 1024}, {"vectors", 0, 1}});
  if (!settings)
    return std::unexpected(settings.error());
  const int width = settings->at("width"), threads = settings->at("threads");
  if (width > 1 && row_width(graph, region) % width != 0)
    return fail("neighbors of " + std::to_string(width) + " elements do not go to one row");
  if (region.outputs != std::vector{region.anchor})
    return fail("a sum at indices is whole only behind its kernel");

  const bool vectors = settings->at("vectors") != 0;
  const model::Node &anchor = graph.node(region.anchor);
  const model::TensorType &type = anchor.type();
  if (vectors && (!device.vector_atomics || !adds_vectors(type.dtype, width)))
    return fail("this device has no additions of such vectors");
  elements::Lowering lowering;
  lowering.source = std::string(kDevice) + (vectors ? kVectors : "");
  const auto add_kernel = [&](const std::string &name, std::int64_t count,
                              const elements::ElementWriter &writer, const std::string &body) {
    lowering.source += elements::fill_places(kKernel, {{"NAME", name},
                                                       {"THREADS", std::to_string(threads)},
                                                       {"PARAMETERS", writer.parameters()},
                                                       {"COUNT", std::to_string(count)},
                                                       {"BODY", body}});
    lowering.steps.push_back(elements::launch_of(name, elements::ceil_divide(count, threads),
                                                 threads, writer.arguments()));
  };

  {
    elements::ElementWriter writer(graph, region);
    const int vector = std::min(writer.load_width(anchor.inputs[0]), writer.store_width());
    const std::int64_t count = model::elements_of(type.shape) / vector;
    writer.bound("i", count);
    const auto lanes = lanes_of(type.shape, vector);
    std::string body;
    const auto values = writer.load(anchor.inputs[0], lanes, body);
    add_kernel(prefix + "_start", count, writer, body + writer.store(lanes, values));
  }

  elements::ElementWriter writer(graph, region);
  const model::Shape &from = graph.node(anchor.inputs[1]).type().shape;
  const std::int64_t count = model::elements_of(from) / width;
  writer.bound("i", count);
  auto lanes = lanes_of(from, width);
  std::string body;
  const auto rows = writer.load(anchor.inputs[1], lanes, body);
  const auto values = writer.load(anchor.inputs[2], lanes, body);
  writer.bound("row", type.shape[dim_of(anchor)]);
  body += "const int row = (int)" + rows[0] + ";\n"; // of all lanes
  lanes[0][dim_of(anchor)] = "row";
  const std::string element = ops::memory_type_of(type.dtype);
  body += "const " + element + " values[" + std::to_string(width) + "] = {";
  for (int lane = 0; lane < width; ++lane)
    body += (lane > 0 ? ", " : "") + ops::to_memory(values[lane], type.dtype);
  body += std::string("};\nwarpwright_scatter::") + (vectors ? "add_vector" : "add") + "(out0 + " +
          writer.offset(region.anchor, lanes[0]) + ", values);\n";
  add_kernel(prefix + "_add", count, writer, body);
  return lowering;
}

} // namespace

const elements::Family kScatterFamily{"scatter", claims, true, false, configurations, lower};

} // namespace warpwright::families::scatter
