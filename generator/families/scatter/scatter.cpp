// The scatter family: sums, maxima and minima at indices along any dimension, as graph layers,
// histograms and the routing of experts have them.
//
// Sums: one kernel writes what is added to, the next adds each element of the source by an atomic
// operation. Sources and indices are computed in place, so the messages along a graph's edges never
// lie in memory. Where neighbors of the last dimension go to one row, which is what rows of
// features do, a thread adds a vector at once. Sums have no fixed order, as PyTorch's own: a plan
// is not used where deterministic algorithms are asked for.
//
// Maxima: integers in the order of the numbers lie in a temporary (device/scatter_extremes.cuh).
// The last kernel turns them into numbers. Minima are maxima of the negated numbers. Omits:
// extremes of integers, products, means.
#include "generator/families/scatter/scatter.h"

#include "generator/elements/window_text.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
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
         (anchor.op == op::scatter_add || model::is_floating(anchor.type().dtype)) &&
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
  const bool adds = graph.node(region.anchor).op == op::scatter_add;
  const int widest = adds ? row_width(graph, region) : 1;
  const Dtype dtype = graph.node(region.anchor).type().dtype;
  // Without vectors, threads side by side add side by side.
  for (const int width : {widest, adds && ops::is_half(dtype) ? std::min(widest, 2) : 1, 1})
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

constexpr const char *kExtremes = "\n"
#include "generator/device/scatter_extremes.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  const int i = blockIdx.x * @THREADS@ + threadIdx.x;
  if (i >= @COUNT@)
    return;
@BODY@}
)cuda";

/// Text of the kernels of one lowering.
class Kernels {
public:
  Kernels(const ops::GraphIndex &graph, const elements::Region &region, const std::string &prefix,
          int threads)
      : graph_(graph), region_(region), anchor_(graph.node(region.anchor)), prefix_(prefix),
        threads_(threads) {}

  elements::Lowering sum(int width, bool vectors) {
    lowering_.source = std::string(kDevice) + (vectors ? kVectors : "");
    start();
    elements::ElementWriter writer(graph_, region_);
    const Sources sources = write_sources(writer, width);
    std::string body = sources.text + "const " + ops::memory_type_of(anchor_.type().dtype) +
                       " values[" + std::to_string(width) + "] = {";
    for (int lane = 0; lane < width; ++lane)
      body += (lane > 0 ? ", " : "") + ops::to_memory(sources.values[lane], anchor_.type().dtype);
    body += std::string("};\nwarpwright_scatter::") + (vectors ? "add_vector" : "add") +
            "(out0 + " + writer.offset(region_.anchor, sources.to) + ", values);\n";
    add("_add", count_of(anchor_.inputs[1]) / width, writer, body);
    return std::move(lowering_);
  }

  elements::Lowering extreme() {
    const bool largest = anchor_.op == op::scatter_amax,
               with_self = ops::flag_attribute(anchor_, "include_self", true),
               wide = anchor_.type().dtype == Dtype::Float64;
    const std::string keys = prefix_ + "_keys", key = wide ? "unsigned long long" : "unsigned",
                      parameter = key + " *__restrict__ keys", sign = largest ? "" : "-";
    lowering_.source = kExtremes;
    lowering_.temporaries.push_back(
        {keys, wide ? Dtype::Int64 : Dtype::Int32,
         symbolic::Expression(model::elements_of(anchor_.type().shape))});
    const model::Shape &to = anchor_.type().shape;
    if (with_self) {
      elements::ElementWriter writer(graph_, region_);
      writer.bound("i", model::elements_of(to));
      std::string body;
      const auto values = writer.load(anchor_.inputs[0], lanes_of(to, 1), body);
      add("_start", model::elements_of(to), writer,
          body + "keys[i] = warpwright_scatter::key_of(" + sign + "(" + values[0] + "));\n",
          parameter, keys);
    } else {
      lowering_.steps.push_back(model::FillStep{keys, 0});
    }
    {
      elements::ElementWriter writer(graph_, region_);
      const Sources sources = write_sources(writer, 1);
      const std::string offset =
          elements::strided_terms(sources.to, model::strides_of({anchor_.type().dtype, to, {}}));
      add("_raise", count_of(anchor_.inputs[1]), writer,
          sources.text + "warpwright_scatter::raise(keys" + offset +
              ", warpwright_scatter::key_of(" + sign + "(" + sources.values[0] + ")));\n",
          parameter, keys);
    }
    elements::ElementWriter writer(graph_, region_);
    writer.bound("i", model::elements_of(to));
    const auto lanes = lanes_of(to, 1);
    std::string body = "const " + key + " key = keys[i];\n";
    std::string value = sign + "warpwright_scatter::value_of(key)";
    if (!with_self)
      value = "(key == 0 ? " + writer.load(anchor_.inputs[0], lanes, body)[0] + " : " + value + ")";
    add("_finish", model::elements_of(to), writer, body + writer.store(lanes, std::vector{value}),
        "const " + parameter, keys);
    return std::move(lowering_);
  }

private:
  /// Values to be combined, and the index of the first one's place; `text` computes both for the thread's elements.
  struct Sources {
    std::string text;
    std::vector<std::string> values;
    elements::Index to;
  };

  std::int64_t count_of(const std::string &value) const {
    return model::elements_of(graph_.node(value).type().shape);
  }

  Sources write_sources(elements::ElementWriter &writer, int width) const {
    Sources result;
    const std::size_t dim = dim_of(anchor_);
    writer.bound("i", count_of(anchor_.inputs[1]) / width);
    const auto lanes = lanes_of(graph_.node(anchor_.inputs[1]).type().shape, width);
    const auto rows = writer.load(anchor_.inputs[1], lanes, result.text);
    result.values = writer.load(anchor_.inputs[2], lanes, result.text);
    writer.bound("row", anchor_.type().shape[dim]);
    result.text += "const int row = (int)" + rows[0] + ";\n"; // of all lanes
    result.to = lanes[0];
    result.to[dim] = "row";
    return result;
  }

  /// Adds the kernel that writes what is added to.
  void start() {
    elements::ElementWriter writer(graph_, region_);
    const model::Shape &to = anchor_.type().shape;
    const int vector = std::min(writer.load_width(anchor_.inputs[0]), writer.store_width());
    const std::int64_t count = model::elements_of(to) / vector;
    writer.bound("i", count);
    const auto lanes = lanes_of(to, vector);
    std::string body;
    const auto values = writer.load(anchor_.inputs[0], lanes, body);
    add("_start", count, writer, body + writer.store(lanes, values));
  }

  /// Adds a kernel with a thread for each of `count` values of i. @param parameter of a temporary, if there is one
  void add(const std::string &suffix, std::int64_t count, const elements::ElementWriter &writer,
           const std::string &body, const std::string &parameter = "",
           const std::string &temporary = "") {
    const auto only = [](const std::string &one) {
      return one.empty() ? std::vector<std::string>{} : std::vector{one};
    };
    lowering_.source += elements::fill_places(
        kKernel, {{"NAME", prefix_ + suffix},
                  {"THREADS", std::to_string(threads_)},
                  {"PARAMETERS", elements::parameters_with(writer, only(parameter))},
                  {"COUNT", std::to_string(count)},
                  {"BODY", body}});
    lowering_.steps.push_back(
        elements::launch_of(prefix_ + suffix, elements::ceil_divide(count, threads_), threads_,
                            elements::arguments_with(writer, only(temporary))));
  }

  const ops::GraphIndex &graph_;
  const elements::Region &region_;
  const model::Node &anchor_;
  const std::string &prefix_;
  const int threads_;
  elements::Lowering lowering_;
};

Result<elements::Lowering> lower(const ops::GraphIndex &graph, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  const auto settings = elements::settings_of(
      configuration, {{"width", 1, 8}, {"threads", 32, 1024}, {"vectors", 0, 1}});
  if (!settings)
    return std::unexpected(settings.error());
  const model::Node &anchor = graph.node(region.anchor);
  const int width = settings->at("width");
  const bool vectors = settings->at("vectors") != 0, adds = anchor.op == op::scatter_add;
  if (width > 1 && (!adds || row_width(graph, region) % width != 0))
    return fail("neighbors of " + std::to_string(width) + " elements do not go to one row");
  if (region.outputs != std::vector{region.anchor})
    return fail("a value at indices is whole only behind its kernel");
  if (vectors && (!adds || !device.vector_atomics || !adds_vectors(anchor.type().dtype, width)))
    return fail("this device has no additions of such vectors");
  Kernels kernels(graph, region, prefix, settings->at("threads"));
  return adds ? kernels.sum(width, vectors) : kernels.extreme();
}

} // namespace

const elements::Family kScatterFamily{"scatter", claims, true, false, configurations, lower};

} // namespace warpwright::families::scatter
