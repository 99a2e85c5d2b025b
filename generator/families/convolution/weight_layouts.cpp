// One kernel that converts the weights of several convolutions to channels-last, and multiplies each output channel with
// a factor where a norm was folded into the weight: the "layouts" node of a plan (planning/channels_last.h).
//
// A block converts the taps of some output channels, or of a tile of input channels of one. It reads consecutive memory
// and writes runs of channels. Blocks of all weights form one grid. Parameters may change between calls, so every call
// runs the kernel. Omits: fusion with other nodes.
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
constexpr std::int64_t kVector = 4; ///< elements that a thread reads or writes at once

constexpr const char *kDevice =
    "\n"
#include "generator/device/turn_channels.cuh.inc"
    ;

constexpr std::string_view kTurn = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  __shared__ alignas(32) @TYPE@ tile[@TILE@];
  int block = blockIdx.x;
@BRANCHES@
}
)cuda";

struct Weight {
  std::int64_t outputs, channels, taps, rows = 1, chunk = 0, blocks = 0;
};
Weight weight_of(const model::Shape &shape) {
  Weight weight{shape[0], shape[1], elements::elements_between(shape, 2, shape.size())};
  const std::int64_t row = weight.channels * weight.taps;
  if (row <= kTile) {
    weight.rows = std::clamp<std::int64_t>(kTile / row, 1, weight.outputs);
    weight.chunk = weight.channels;
  } else { // equal parts of whole vectors, where a block holds one
    const std::int64_t taps = std::min(weight.taps, kTile), most = kTile / taps;
    const std::int64_t limit = most < kVector ? most : most / kVector * kVector;
    const std::int64_t part =
        elements::ceil_divide(weight.channels, elements::ceil_divide(weight.channels, limit));
    weight.chunk = std::min(limit, elements::ceil_divide(part, kVector) * kVector);
  }
  weight.blocks = elements::ceil_divide(weight.outputs, weight.rows) *
                  elements::ceil_divide(weight.channels, weight.chunk);
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
  const model::Shape factors = ops::list_attribute(anchor, ops::kFactors).value_or(model::Shape{});
  const auto place = [&](std::int64_t operand) {
    const std::string &value = anchor.inputs.at(static_cast<std::size_t>(operand));
    return "in" + number(std::ranges::find(region.inputs, value) - region.inputs.begin());
  };
  const std::string type = ops::memory_type_of(anchor.type().dtype);
  std::string branches;
  std::int64_t blocks = 0;
  for (std::size_t out = 0; out < region.outputs.size(); ++out) {
    const model::Node &item = index.node(region.outputs[out]);
    const std::int64_t which = ops::integer_attribute(item, "index", 0);
    const std::int64_t factor = factors.empty() ? -1 : factors.at(static_cast<std::size_t>(which));
    // A weight that lies channels-last already is only multiplied.
    const model::Shape &shape = item.type().shape,
                       &given = index.node(anchor.inputs.at(static_cast<std::size_t>(which))).type().shape;
    const Weight weight = weight_of(
        given == shape ? shape : model::Shape{shape[0], model::elements_of(shape) / shape[0]});
    if (weight.taps > kTile)
      return fail("a filter of " + number(weight.taps) + " taps does not fit");
    branches += "  if (block >= 0 && block < " + number(weight.blocks) + ")\n    warpwright_turn::turn<" +
                number(kThreads) + ", " + type + ">(" + place(which) + ", " +
                (factor < 0 ? "nullptr" : place(factor)) + ", out" +
                number(static_cast<std::int64_t>(out)) + ", " + number(weight.outputs) + ", " +
                number(weight.channels) + ", " + number(weight.taps) + ", " + number(weight.rows) +
                ", " + number(weight.chunk) + ", block, tile);\n  block -= " +
                number(weight.blocks) + ";\n";
    blocks += weight.blocks;
  }
  elements::Lowering lowering;
  lowering.source =
      kDevice + elements::fill_places(kTurn, {{"NAME", prefix},
                                              {"TYPE", type},
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
