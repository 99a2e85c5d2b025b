// LSTM, GRU and plain RNN layers as one kernel that stays on the device for all time steps.
//
// A block owns `units` units of one layer in one direction. It keeps their weights in shared memory for the whole
// sequence and, at each step, multiplies them with the layer's input and with the state of all units. States pass
// through a buffer in global memory with a slot for every step. The buffer is filled with a bit pattern that no state
// has, so readers poll the words that they need, without counters or fences. Layers run as a wave, each one step behind
// the layer below. A block multiplies the outputs of the layer below while it waits for the states of its own layer.
// Each direction needs the complete output of the layer below, so bidirectional networks are launched layer by layer.
//
// All blocks of a launch must be resident together: there are at most as many blocks as
// multiprocessors, and the launch is cooperative, so no block waits for one that never starts.
// The CPU backend runs blocks one after another, so there a block takes all units of a layer.
// Omits: the cases that recurrent_shape.h omits, and weights that do not fit.
#include "generator/families/recurrent/recurrent.h"
#include "generator/elements/window_text.h"
#include "generator/families/recurrent/recurrent_shape.h"
#include "generator/families/recurrent/recurrent_text.h"

#include <algorithm>

namespace warpwright::families::recurrent {
namespace {

constexpr std::int64_t kThreads = 256;
/// Most batch elements of a block; their sums stay in registers.
constexpr std::int64_t kMostBatch = 16;

/// Division of the work of a launch among its blocks.
struct Cut {
  std::int64_t units = 0, layers = 1; ///< of a block, of a launch
  std::int64_t chunks = 1, batch = 0; ///< pieces of the batch, and elements in each
  std::int64_t parts = 0, blocks = 0; ///< blocks of a layer in one direction, of a launch
  std::int64_t shared_bytes = 0;
};

Cut cut_of(const RecurrentShape &shape, std::int64_t units, std::int64_t layers) {
  Cut cut{units, layers};
  cut.chunks = elements::ceil_divide(shape.batch, kMostBatch);
  cut.batch = elements::ceil_divide(shape.batch, cut.chunks);
  cut.parts = shape.units / units;
  cut.blocks = cut.chunks * layers * shape.directions * cut.parts;
  cut.shared_bytes = recurrent_shared_bytes(shape, units, cut.batch, kThreads);
  return cut;
}

bool fits(const RecurrentShape &shape, const Cut &cut, const elements::DeviceFacts &device) {
  if (cut.shared_bytes > device.shared_bytes_block)
    return false;
  // On the CPU no block may wait for a later one.
  if (!device.inline_ptx)
    return cut.layers == 1 && (cut.parts == 1 || shape.steps == 1);
  return cut.blocks <= device.multiprocessors;
}

/// Rough time, microseconds: the multiplications of each step and the cost of passing states on.
double time_of(const RecurrentShape &shape, const Cut &cut, const arch::RecurrentRates &rates) {
  const double a_column = static_cast<double>(cut.units * shape.gates() * cut.batch) / 128 * 1.2;
  const double input = a_column * static_cast<double>(std::max(shape.width(0), shape.width(1)));
  const double state = a_column * static_cast<double>(shape.units);
  const double step = std::max(input, rates.passing_cycles) + state + rates.summing_cycles;
  const auto waves = static_cast<double>((shape.steps + cut.layers - 1) *
                                         elements::ceil_divide(shape.layers, cut.layers));
  return waves * step / rates.cycles;
}

std::vector<Cut> cuts(const RecurrentShape &shape, const elements::DeviceFacts &device) {
  std::vector<Cut> list;
  for (const std::int64_t units : {4, 8, 16, 32})
    for (std::int64_t layers = shape.directions == 1 ? shape.layers : 1; layers > 0; --layers)
      if (shape.units % units == 0)
        if (const Cut cut = cut_of(shape, units, layers); fits(shape, cut, device)) {
          list.push_back(cut);
          break; // fewer layers at a time only take longer
        }
  std::ranges::stable_sort(
      list, {}, [&](const Cut &cut) { return time_of(shape, cut, device.rates.recurrent); });
  return list;
}

bool claims(const ops::GraphIndex &index, const model::Node &anchor) {
  const auto shape = recurrent_shape(index, anchor);
  return shape && shape->units % 4 == 0;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  std::vector<elements::Configuration> list;
  if (const auto shape = recurrent_shape(index, index.node(region.anchor)))
    for (const Cut &cut : cuts(*shape, device))
      list.push_back(
          {{"units", static_cast<int>(cut.units)}, {"layers", static_cast<int>(cut.layers)}});
  return list;
}

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  const auto shape = recurrent_shape(index, index.node(region.anchor));
  if (!shape)
    return fail("the family does not support this recurrent layer");
  const auto units = elements::setting_of(configuration, "units", 4, 32);
  const auto layers =
      elements::setting_of(configuration, "layers", 1, static_cast<int>(shape->layers));
  for (const auto &setting : {units, layers})
    if (!setting)
      return std::unexpected(setting.error());
  if (shape->units % *units != 0)
    return fail("units do not divide into such parts");
  const Cut cut = cut_of(*shape, *units, *layers);
  if (!fits(*shape, cut, device))
    return fail("the weights do not fit into shared memory, or the blocks onto the device");

  elements::ElementWriter writer(index, region);
  const std::string sequence = prefix + "_states";
  elements::Lowering lowering;
  lowering.source = recurrent_kernel(
      *shape, writer,
      {prefix, cut.units, cut.layers, cut.chunks, cut.batch, kThreads, device.inline_ptx});
  lowering.temporaries.push_back({sequence, model::Dtype::Float32,
                                  symbolic::Expression(std::ssize(shape->lines) * cut.chunks *
                                                       shape->steps * shape->units * cut.batch)});
  lowering.steps.push_back(model::FillStep{sequence, 0xFF});
  for (std::int64_t first = 0; first < shape->layers; first += cut.layers) {
    const std::int64_t together = std::min(cut.layers, shape->layers - first);
    auto arguments = elements::arguments_with(writer, {sequence});
    arguments.push_back(model::SizeArgument{first, model::Dtype::Int32});
    model::LaunchStep launch =
        elements::launch_of(prefix + "_recurrent", cut.blocks / cut.layers * together, kThreads,
                            std::move(arguments), cut.shared_bytes);
    launch.cooperative = device.inline_ptx;
    lowering.steps.push_back(std::move(launch));
  }
  return lowering;
}

double estimate(const ops::GraphIndex &index, const model::Node &anchor,
                const elements::DeviceFacts &device) {
  const auto shape = recurrent_shape(index, anchor);
  const std::vector<Cut> list = shape ? cuts(*shape, device) : std::vector<Cut>();
  return list.empty() ? 1e9 : time_of(*shape, list.front(), device.rates.recurrent);
}

} // namespace

const elements::Family kRecurrentFamily{"recurrent",    claims, true,    false,
                                        configurations, lower,  estimate};

} // namespace warpwright::families::recurrent
