// Convolution with short sums (few input channels, small filters), as
// FP32 products in registers of one kernel, without packed weights.
//
// device/convolution_direct.cuh is the kernel; this file provides its sizes and tables. Tensor cores gain little for so
// few products, and PyTorch's library also runs these cases in FP32. Omits: depthwise convolution (depthwise.cpp)
// and long sums (convolution.cpp).
#include "generator/families/convolution/direct_convolution.h"
#include "generator/families/convolution/direct_convolution_taps.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warpwright::families::convolution {
namespace {

/// Most products of a sum, and largest filter that leaves shared memory for enough blocks.
constexpr std::int64_t kMostProducts = 256, kMostInputChannels = 64, kMostWeights = 12 * 1024;
/// Most sums of a thread; most multiplications in straight-line code, and most elements there that are computed as they
/// are read, each in code of its own (392 of them took NVRTC 52 s).
constexpr std::int64_t kMostSums = 64, kMostStraight = 2048, kMostComputed = 128;
constexpr std::int64_t kMostPhases = 16, kMostTogether = 4;

constexpr const char *kDevice =
    "\n"
#include "generator/device/convolution_direct.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
__constant__ warpwright_direct::Part @PREFIX@_parts[] = @PARTS@;
__constant__ warpwright_direct::Depth @PREFIX@_depths[] = @DEPTHS@;
struct @PREFIX@_Sizes {
@SIZES@  static constexpr int kHeights[][3] = @HEIGHTS@;
  static constexpr int kSteps[][5] = @STEPS@;
  static constexpr int kProducts[][2] = @PRODUCTS@;
  static constexpr int kBits[][2] = @BITS@;
};
extern "C" __global__ void __launch_bounds__(@THREADS@, @BLOCKS@) @PREFIX@_direct(@PARAMETERS@) {
  warpwright_direct::multiply<@PREFIX@_Sizes>(@PREFIX@_parts, @PREFIX@_depths, @INPUT@, @LOAD@, @WEIGHT@, @FINISH@);
}
)cuda";

std::int64_t products(const elements::ConvolutionShape &shape) {
  return shape.taps() * shape.group_in;
}

/// Candidate numbers of output channels per thread.
std::vector<std::int64_t> channel_counts(const elements::ConvolutionShape &shape) {
  std::vector<std::int64_t> counts;
  for (const std::int64_t count : {16, 32, 8, 4})
    if (count < 2 * shape.group_out || count == 4)
      counts.push_back(count);
  return counts;
}

bool claims(const ops::GraphIndex &index, const model::Node &anchor) {
  const auto shape = elements::convolution_shape(index, anchor);
  const model::Dtype dtype = anchor.type().dtype;
  if (!shape || !model::is_floating(dtype) || dtype == model::Dtype::Float64)
    return false;
  const std::int64_t phases =
      shape->transposed ? shape->stride[0] * shape->stride[1] * shape->stride[2] : 1;
  const model::Shape &in = index.node(anchor.inputs[0]).type().shape;
  return shape->group_in <= kMostInputChannels && products(*shape) / phases <= kMostProducts &&
         products(*shape) * 4 <= kMostWeights && phases <= kMostPhases &&
         (!shape->transposed || shape->stride[2] <= kMostTogether) &&
         shape->groups * elements::ceil_divide(shape->group_out, 4) <= 65535 &&
         model::elements_of(in) < (std::int64_t{1} << 31) &&
         shape->batch * shape->out[0] * shape->out[1] * shape->out[2] < (std::int64_t{1} << 30);
}

/// Estimated time of a launch for ranking, microseconds. A multiprocessor multiplies 128 times a cycle; a load from
/// shared memory or the first-level cache takes a cycle for each 128 bytes.
double time_of(const elements::ConvolutionShape &shape, const std::vector<Together> &parts,
               std::int64_t along, std::int64_t channels, std::int64_t pixels, std::int64_t threads,
               const elements::DeviceFacts &device) {
  const arch::DirectRates &rates = device.rates.direct;
  const double registers = static_cast<double>(pixels * channels * along + 4 * pixels + 32);
  const double resident = std::max(
      1.0, std::min({std::floor(device.registers_multiprocessor / (registers * threads)),
                     std::floor(static_cast<double>(device.threads_multiprocessor) / threads),
                     std::floor(rates.shared_bytes / (4.0 * products(shape) * channels + 1024))}));
  const std::int64_t columns = shape.groups * elements::ceil_divide(shape.group_out, channels);
  double cycles = 0, blocks = 0, outputs = 0, waits = 0;
  for (const Together &part : parts) {
    const std::int64_t positions = shape.batch * part.count[0] * part.count[1] * part.count[2];
    const double count =
        static_cast<double>(elements::ceil_divide(positions, threads * pixels) * columns);
    const double steps = static_cast<double>(part.taps.size()) * shape.group_in;
    const double arithmetic = steps * (pixels * channels + 6 * pixels) * threads / 128;
    const double loads = steps * (channels + 1.5 * pixels) * threads / 32;
    const double stores = 2.0 * pixels * channels * along * threads / 32;
    blocks += count;
    cycles += count * (std::max(arithmetic, loads) * 1.15 + stores + 300);
    // About a dozen loads are in flight at once.
    waits = std::max(waits, std::ceil(steps / 12) * rates.wait_cycles);
    outputs += static_cast<double>(positions * along * shape.channels_out());
  }
  const double input = static_cast<double>(shape.batch * shape.channels_in() * shape.in[0] *
                                           shape.in[1] * shape.in[2]);
  const double each = blocks / device.multiprocessors,
               at_once = std::min(resident, std::ceil(each));
  // The last wave is as long as a full one.
  const double turns = std::ceil(each / at_once) > 4 ? each / at_once : std::ceil(each / at_once);
  const double busy = turns * std::max(cycles / blocks * at_once, waits);
  return std::max(rates.caution * (busy + rates.start_cycles) / rates.cycles, 4 * (input + outputs) / rates.bytes);
}

std::vector<std::pair<double, elements::Configuration>>
guesses_of(const elements::ConvolutionShape &shape, const elements::DeviceFacts &device) {
  const ConvolutionPhases all = convolution_phases(shape, false);
  const std::vector<Together> parts = together(all);
  const std::int64_t along = all.output_step[2];
  std::vector<std::pair<double, elements::Configuration>> guesses;
  for (const std::int64_t channels : channel_counts(shape))
    for (const int pixels : {8, 4, 2, 1})
      for (const int threads : {128, 64, 256}) {
        const std::int64_t sums = channels * pixels * along;
        if (sums > kMostSums || (threads == 256 && sums > 64) ||
            products(shape) * channels > kMostWeights)
          continue;
        guesses.emplace_back(time_of(shape, parts, along, channels, pixels, threads, device),
                             elements::Configuration{{"channels", static_cast<int>(channels)},
                                                     {"pixels", pixels},
                                                     {"threads", threads}});
      }
  std::ranges::stable_sort(guesses, {}, &std::pair<double, elements::Configuration>::first);
  return guesses;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  std::vector<elements::Configuration> list;
  for (auto &[time, configuration] :
       guesses_of(*elements::convolution_shape(index, index.node(region.anchor)), device))
    if (list.size() < 16)
      list.push_back(std::move(configuration));
  return list;
}

double estimate(const ops::GraphIndex &index, const model::Node &anchor,
                const elements::DeviceFacts &device) {
  return guesses_of(*elements::convolution_shape(index, anchor), device).front().first;
}

/// Dimensions in which an element may lie outside the input.
std::array<bool, 3> leaves(const elements::ConvolutionShape &shape, const ConvolutionPhases &all,
                           const std::vector<Together> &parts) {
  std::array<bool, 3> result{};
  for (const Together &part : parts)
    for (const auto &[tap, phase] : part.taps)
      for (std::size_t d = 0; d < 3; ++d)
        result[d] = result[d] || tap.offset[d] < 0 ||
                    (part.count[d] - 1) * all.input_step[d] + tap.offset[d] >= shape.in[d];
  return result;
}

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  const auto channels = elements::setting_of(configuration, "channels", 4, 64);
  const auto pixels = elements::setting_of(configuration, "pixels", 1, 16);
  const auto threads = elements::setting_of(configuration, "threads", 32, 1024);
  for (const auto &setting : {channels, pixels, threads})
    if (!setting)
      return std::unexpected(setting.error());
  ConvolutionText text(index, region);
  const elements::ConvolutionShape &shape = text.shape();
  const ConvolutionPhases all = convolution_phases(shape, false);
  const std::vector<Together> parts = together(all);
  const std::int64_t along = all.output_step[2], sums = *channels * *pixels * along;
  if (*channels % 4 != 0 || *threads % 32 != 0 || sums > kMostSums || products(shape) * *channels > kMostWeights)
    return fail("the direct convolution's tile does not fit registers or shared memory",
                "take a configuration that the family lists");
  const std::int64_t slice = shape.kernel[1] * shape.kernel[2];
  const bool in_memory = !text.input().empty(), deep = shape.spatial == 3;
  const bool straight = shape.transposed || (slice * *channels * *pixels <= kMostStraight &&
                                             (in_memory || slice * *pixels <= kMostComputed));
  const std::array<bool, 3> leaving =
      in_memory ? leaves(shape, all, parts) : std::array{true, true, true};
  const bool whole = text.stores_whole(along);
  text.writer().bound("qw", parts.front().count[2]);

  const std::int64_t chunks = elements::ceil_divide(shape.group_out, *channels);
  std::vector<Numbers> rows, depths;
  std::int64_t most = 0, most_steps = 1;
  for (const Together &part : parts) {
    std::set<std::pair<std::int64_t, std::int64_t>> own;
    for (const auto &[tap, phase] : part.taps)
      own.insert({tap.offset[0], tap.weight / slice});
    rows.push_back({part.first[0], part.first[1], part.count[0], part.count[1], part.count[2], std::ssize(depths), std::ssize(own)});
    for (const auto &[offset, place] : own)
      depths.push_back({offset, place});
    most_steps = std::max(most_steps, std::ssize(part.taps));
    most = std::max(most, shape.batch * part.count[0] * part.count[1] * part.count[2]);
  }
  const DirectTaps taps(shape, parts, straight, leaving);
  // Short steps load several input channels at once, so that threads wait for memory less often.
  const std::int64_t unrolled = deep || !straight ? 1 : std::clamp<std::int64_t>(12 / most_steps, 1, 4);
  // Without this bound the compiler spends all registers on
  // early loads, and too few warps remain to hide their latency.
  const std::int64_t resident = std::clamp<std::int64_t>(device.registers_multiprocessor / ((sums + 42) * *threads), 1, 8);
  const elements::Substitutions places{
      {"PREFIX", prefix},
      {"PARTS", table_text(rows)},
      {"DEPTHS", table_text(depths)},
      {"SIZES", static_constants({{"kThreads", *threads},
                                  {"kPixels", *pixels},
                                  {"kColumns", *channels},
                                  {"kTogether", along},
                                  {"kColumnBlocks", chunks},
                                  {"kParts", std::ssize(parts)},
                                  {"kInMemory", in_memory},
                                  {"kWhole", whole},
                                  {"kDeep", deep},
                                  {"kUnroll", unrolled},
                                  {"kStraight", straight},
                                  {"kMasks", taps.masks},
                                  {"kManyHeights", shape.transposed && shape.stride[1] > 1},
                                  {"kHeightCount", std::ssize(taps.heights)},
                                  {"kBitCount", std::ssize(taps.bits)},
                                  {"kLeavesD", leaving[0]},
                                  {"kLeavesH", leaving[1]},
                                  {"kLeavesW", leaving[2]},
                                  {"kDilationH", shape.dilation[1]},
                                  {"kDilationW", shape.dilation[2]},
                                  {"kPaddingH", shape.padding[1]},
                                  {"kPaddingW", shape.padding[2]}}) +
                    shape_constants(shape, all.input_step, all.output_step, parts.front().count)},
      {"HEIGHTS", table_text(taps.heights)},
      {"STEPS", table_text(taps.steps)},
      {"PRODUCTS", table_text(taps.products)},
      {"BITS", table_text(taps.bits)},
      {"THREADS", std::to_string(*threads)},
      {"BLOCKS", std::to_string(resident)},
      {"PARAMETERS", text.writer().parameters()},
      {"INPUT", in_memory ? text.input() : "nullptr"},
      {"LOAD", in_memory ? "0" : text.load()},
      {"WEIGHT", text.weight()},
      {"FINISH", whole ? text.finish_all(along) : text.finish()}};
  elements::Lowering lowering;
  lowering.source = kDevice + elements::fill_places(kKernel, places);
  lowering.steps.push_back(elements::launch_of(
      prefix + "_direct", elements::ceil_divide(most, *threads * *pixels), *threads,
      text.writer().arguments(), 0, shape.groups * chunks, std::ssize(parts)));
  return lowering;
}

} // namespace

constinit const elements::Family kDirectConvolutionFamily = [] {
  elements::Family family{"direct", claims, true, true, configurations, lower, estimate};
  family.ordinary_cores = family.short_sums = true;
  return family;
}();

} // namespace warpwright::families::convolution
