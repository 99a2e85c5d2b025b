// upsample_nearest by whole factors, alone or before pointwise nodes: each output element is one input element.
//
// A thread computes four adjacent outputs and stores them as a vector if the output allows; outputs that read the same
// element share its load. The source of output i is floor(i * in / out), as in PyTorch for whole factors. Leaves out:
// other scales, whose rounding PyTorch does in FP32; nearest-exact.
#include "generator/families/windows/upsample.h"
#include "generator/elements/window_text.h"
#include "generator/ops/names.h"

namespace warpwright::families::windows {
namespace {

bool claims(const ops::GraphIndex &index, const model::Node &anchor) {
  if (anchor.op != op::upsample_nearest || anchor.inputs.size() != 1)
    return false;
  const model::Shape &in = index.node(anchor.inputs[0]).type().shape, &out = anchor.type().shape;
  if (in.size() != out.size() || model::elements_of(out) == 0)
    return false;
  for (std::size_t d = 0; d < in.size(); ++d)
    if (in[d] == 0 || out[d] % in[d] != 0)
      return false;
  return true;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &) {
  const int lanes = index.node(region.anchor).type().shape.back() % 4 == 0 ? 4 : 1;
  return {{{"lanes", lanes}, {"threads", 256}}, {{"lanes", 1}, {"threads", 256}}};
}

constexpr std::string_view kKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  const long group = (long)blockIdx.x * @THREADS@ + threadIdx.x;
  if (group >= @GROUPS@L)
    return;
@PLACES@
@BODY@
}
)cuda";

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &, const std::string &prefix) {
  const model::Node &anchor = index.node(region.anchor);
  const model::Shape &in = index.node(anchor.inputs[0]).type().shape, &out = anchor.type().shape;
  const auto lanes = elements::setting_of(configuration, "lanes", 1, 4);
  const auto threads = elements::setting_of(configuration, "threads", 32, 1024);
  for (const auto &setting : {lanes, threads})
    if (!setting)
      return std::unexpected(setting.error());
  if ((*lanes != 1 && *lanes != 4) || out.back() % *lanes != 0)
    return fail("upsampling cannot store " + std::to_string(*lanes) + " neighbours there");

  elements::ElementWriter writer(index, region);
  model::Shape groups = out;
  groups.back() /= *lanes;
  const elements::Index parts = elements::unflatten("group", groups);
  std::string places;
  std::vector<elements::Index> to(*lanes), from(*lanes);
  for (std::size_t d = 0; d < out.size(); ++d) {
    const std::string name = "o" + std::to_string(d);
    places += "  const int " + name + " = (int)(" + parts[d] + ");\n";
    writer.bound(name, groups[d]);
    for (int lane = 0; lane < *lanes; ++lane) {
      const bool last = d + 1 == out.size() && *lanes > 1;
      to[lane].push_back(last ? "4 * " + name + " + " + std::to_string(lane) : name);
      const std::int64_t scale = out[d] / in[d];
      from[lane].push_back(scale == 1 ? to[lane].back()
                                      : "(" + to[lane].back() + ") / " + std::to_string(scale));
    }
  }
  std::string body;
  const std::vector<std::string> values = writer.load(anchor.inputs[0], from, body);
  body += writer.store(to, values);
  const std::int64_t count = model::elements_of(groups);
  elements::Lowering lowering;
  lowering.source = elements::fill_places(kKernel, {{"THREADS", std::to_string(*threads)},
                                                    {"NAME", prefix + "_upsample"},
                                                    {"PARAMETERS", writer.parameters()},
                                                    {"GROUPS", std::to_string(count)},
                                                    {"PLACES", places},
                                                    {"BODY", body}});
  lowering.steps.push_back(elements::launch_of(
      prefix + "_upsample", elements::ceil_divide(count, *threads), *threads, writer.arguments()));
  return lowering;
}

} // namespace

const elements::Family kUpsampleFamily{"upsample", claims, true, true, configurations, lower};

} // namespace warpwright::families::windows
