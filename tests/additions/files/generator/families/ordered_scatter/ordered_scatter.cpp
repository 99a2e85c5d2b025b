// scatter_add without atomics: a thread owns an element of the result and reads all indices along the dimension, so that results repeat
// bit by bit. Omits: indices of another extent next to the dimension. Thread: pure functions.
#include "generator/families/ordered_scatter/ordered_scatter.h"
#include "generator/elements/window_text.h"
#include "generator/ops/attributes.h"

namespace warpwright::families::ordered_scatter {
namespace {

std::size_t dim_of(const model::Node &anchor) {
  return static_cast<std::size_t>(ops::integer_attribute(anchor, "dim"));
}

bool claims(const ops::GraphIndex &index, const model::Node &anchor) {
  if (anchor.op != "scatter_add")
    return false;
  model::Shape shape = index.node(anchor.inputs[1]).type().shape;
  shape[dim_of(anchor)] = anchor.type().shape[dim_of(anchor)];
  return shape == anchor.type().shape && model::elements_of(shape) > 0;
}

std::vector<elements::Configuration>
configurations(const ops::GraphIndex &, const elements::Region &, const elements::DeviceFacts &) {
  return {{{"threads", 128}}, {{"threads", 256}}};
}

constexpr std::string_view kKernel = R"cuda(
extern "C" __global__ void @NAME@(@PARAMETERS@) {
  const long item = (long)blockIdx.x * @THREADS@ + threadIdx.x;
  if (item >= @COUNT@L)
    return;
@PLACES@
  @TYPE@ sum = 0;
  {
@FIRST@    sum = @VALUE@;
  }
  for (int k = 0; k < @LINE@; ++k) {
@AT@    if (@INDEX@ != o@DIM@)
      continue;
@ADDED@    sum += @SOURCE@;
  }
@STORE@
}
)cuda";

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &, const std::string &prefix) {
  const model::Node &anchor = index.node(region.anchor);
  const auto threads = elements::setting_of(configuration, "threads", 32, 1024);
  if (!threads)
    return std::unexpected(threads.error());
  elements::ElementWriter writer(index, region);
  const model::Shape &shape = anchor.type().shape;
  const elements::Index parts = elements::unflatten("item", shape);
  elements::Index to, from;
  std::string places;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::string name = "o" + std::to_string(d);
    places += "  const int " + name + " = (int)(" + parts[d] + ");\n";
    writer.bound(name, shape[d]);
    to.push_back(name);
    from.push_back(d == dim_of(anchor) ? "k" : name);
  }
  const std::int64_t line = index.node(anchor.inputs[1]).type().shape[dim_of(anchor)];
  writer.bound("k", line);
  std::string first, at, added;
  const std::string value = writer.load(anchor.inputs[0], to, first);
  const std::string place = writer.load(anchor.inputs[1], from, at);
  const std::string source = writer.load(anchor.inputs[2], from, added);
  const std::int64_t count = model::elements_of(shape);
  const std::string store = writer.store(to, "sum");
  elements::Lowering lowering;
  lowering.source = elements::fill_places(kKernel, {{"NAME", prefix + "_scatter"},
                                                    {"PARAMETERS", writer.parameters()},
                                                    {"THREADS", std::to_string(*threads)},
                                                    {"COUNT", std::to_string(count)},
                                                    {"PLACES", places},
                                                    {"TYPE", writer.compute_type(anchor.inputs[0])},
                                                    {"FIRST", first},
                                                    {"VALUE", value},
                                                    {"LINE", std::to_string(line)},
                                                    {"AT", at},
                                                    {"INDEX", place},
                                                    {"DIM", std::to_string(dim_of(anchor))},
                                                    {"ADDED", added},
                                                    {"SOURCE", source},
                                                    {"STORE", store}});
  lowering.steps.push_back(elements::launch_of(
      prefix + "_scatter", elements::ceil_divide(count, *threads), *threads, writer.arguments()));
  return lowering;
}

} // namespace

const elements::Family kOrderedScatterFamily{"ordered_scatter", claims, true, true, configurations, lower};

} // namespace warpwright::families::ordered_scatter
