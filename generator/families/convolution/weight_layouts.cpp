// One kernel that converts the weights of several convolutions to
// channels-last: the "layouts" node of a plan (planning/layouts.h).
//
// A block converts the taps of a tile of input channels of one output channel. It reads consecutive memory and writes
// runs of channels. Blocks of all weights form one grid. Parameters may change between calls, so every call runs the
// kernel. Leaves out: fusion with other nodes.
#include "generator/families/convolution/weight_layouts.h"
#include "generator/elements/window_text.h"
#include "generator/ops/scalar_ops.h"
#include "generator/ops/attributes.h"
#include "generator/ops/op_traits.h"

#include <algorithm>

namespace warpwright::families::convolution {
namespace {

constexpr std::int64_t kTile = 4096; ///< elements that a block turns in shared memory
constexpr int kThreads = 256;

constexpr const char *kDevice =
    "\n"
#include "generator/device/turn_channels.cuh.inc"
    ;

constexpr std::string_view kTurn = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  __shared__ @TYPE@ tile[@TILE@];
  int block = blockIdx.x;
@BRANCHES@
}
)cuda";

struct Weight {
  std::int64_t outputs, channels, taps, chunk, blocks;
};
Weight weight_of(const model::Shape &shape) {
  Weight weight{shape[0], shape[1], elements::elements_between(shape, 2, shape.size()), 0, 0};
  weight.chunk = std::clamp<std::int64_t>(kTile / weight.taps, 1, weight.channels);
  weight.blocks = weight.outputs * elements::ceil_divide(weight.channels, weight.chunk);
  return weight;
}

bool claims(const ops::GraphIndex &, const model::Node &anchor) {
  return anchor.op == ops::kLayoutsOp;
}

std::vector<elements::Configuration>
configurations(const ops::GraphIndex &, const elements::Region &, const elements::DeviceFacts &) {
  return {{{"threads", kThreads}}};
}

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &, const elements::DeviceFacts &,
                                 const std::string &prefix) {
  const model::Node &anchor = index.node(region.anchor);
  const elements::ElementWriter writer(index, region);
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  std::string branches;
  std::int64_t blocks = 0;
  for (std::size_t out = 0; out < region.outputs.size(); ++out) {
    const model::Node &item = index.node(region.outputs[out]);
    const std::string &source =
        anchor.inputs.at(static_cast<std::size_t>(ops::integer_attribute(item, "index", 0)));
    const auto in = std::ranges::find(region.inputs, source) - region.inputs.begin();
    const Weight weight = weight_of(item.type().shape);
    if (weight.taps > kTile)
      return fail("a filter of " + number(weight.taps) + " taps does not fit");
    branches += "  if (block >= 0 && block < " + number(weight.blocks) + ")\n    warpwright_turn::turn<" +
                number(kThreads) + ">(in" + number(in) + ", out" + number(static_cast<std::int64_t>(out)) + ", " +
                number(weight.channels) + ", " + number(weight.taps) + ", " + number(weight.chunk) +
                ", block, tile);\n  block -= " + number(weight.blocks) + ";\n";
    blocks += weight.blocks;
  }
  elements::Lowering lowering;
  lowering.source =
      kDevice + elements::fill_places(kTurn, {{"NAME", prefix},
                                              {"TYPE", ops::memory_type_of(anchor.type().dtype)},
                                              {"THREADS", number(kThreads)},
                                              {"TILE", number(kTile)},
                                              {"PARAMETERS", writer.parameters()},
                                              {"BRANCHES", branches}});
  lowering.steps.push_back(elements::launch_of(prefix, blocks, kThreads, writer.arguments()));
  return lowering;
}

} // namespace

const elements::Family kWeightLayoutsFamily{"layouts", claims, false, false, configurations, lower};

} // namespace warpwright::families::convolution
