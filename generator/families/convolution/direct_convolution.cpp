// Convolution with short sums (few input channels, small filters), as products in registers: FP32 throughout, one kernel, nothing packed before it.
//
// A thread makes `channels` output channels of `pixels` positions, the lanes of a warp side by side, so that loads and stores of a step are
// whole lines. The filter lies in shared memory, laid out by the block when it starts, and reaches all lanes as one broadcast of four
// channels. Of a transposed convolution with a stride a thread makes all outputs along the last dimension that belong to an input position;
// the phases of the other dimensions are blocks of their own, each with its own taps in straight code. With so few products tensor cores
// have little to do, and what PyTorch calls runs in FP32 there as well.
// Leaves out: depthwise convolution (depthwise.cpp) and long sums (convolution.cpp). Thread: pure functions.
#include "generator/families/convolution/direct_convolution_text.h"
#include "generator/families/convolution/direct_convolution.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warpwright::generator {
namespace {

/// Sums up to this many products, and filters that shared memory holds beside enough blocks.
constexpr std::int64_t kMostProducts = 256, kMostInputChannels = 64, kMostWeights = 12 * 1024;
/// Sums of a thread, and multiplications in straight code.
constexpr std::int64_t kMostSums = 64, kMostStraight = 2048;
constexpr std::int64_t kMostPhases = 16, kMostTogether = 4;

constexpr std::string_view kKernel = R"cuda(
__constant__ int @PREFIX@_parts[][7] = {@PARTS@}; // first depth, first height; counts; depths of the filter, their number
__constant__ int @PREFIX@_depths[][2] = {@DEPTHS@}; // offset, place in the filter
extern "C" __global__ void __launch_bounds__(@THREADS@, @BLOCKS@) @PREFIX@_direct(@PARAMETERS@) {
  constexpr int kThreads = @THREADS@, kP = @P@, kC = @C@, kTogether = @TOGETHER@;
  __shared__ __align__(16) float weights[@WEIGHTS@];
  const int *const part = @PREFIX@_parts[blockIdx.z];
  const int count_d = @COUNT_D@, count_h = @COUNT_H@, count_w = @COUNT_W@;
  const int pixels = @N@ * count_d * count_h * count_w;
  const int pixel0 = blockIdx.x * (kThreads * kP) + threadIdx.x;
  if (pixel0 - (int)threadIdx.x >= pixels)
    return;
  const int group = blockIdx.y / @CHUNKS@, column0 = blockIdx.y % @CHUNKS@ * kC;
#pragma unroll 4
  for (int e = threadIdx.x; e < @WEIGHTS@; e += kThreads) {
    const int tap = e % @TAPS@, @ORDER@;
    const int tap_d = tap / (@KH@ * @KW@), tap_h = tap / @KW@ % @KH@, tap_w = tap % @KW@;
    float value = 0;
    if (column0 + to < @CO@) {
      const int input_channel = @INPUT_CHANNEL@, output_channel = @OUTPUT_CHANNEL@;
@WEIGHT@
    }
    weights[(from * @TAPS@ + tap) * kC + to] = value;
  }
  int start[kP];
@PLACES_OF_PIXELS@
#pragma unroll
  for (int p = 0; p < kP; ++p) {
    int pixel = pixel0 + p * kThreads;
    pixel = pixel < pixels ? pixel : 0;
    const int qw = pixel % count_w, qh = pixel / count_w % count_h;
    const int qd = pixel / (count_w * count_h) % count_d, n = pixel / (count_w * count_h * count_d);
@SET_PLACES@
    start[p] = @START@;
  }
  __syncthreads();
  float sums[kTogether][kP][kC];
#pragma unroll
  for (int i = 0; i < kTogether * kP * kC; ++i)
    sums[i / (kP * kC)][i / kC % kP][i % kC] = 0;
  auto multiply = [&](const float (&x)[kP], float (&sum)[kP][kC], const float *w) {
#pragma unroll
    for (int c = 0; c < kC; c += 4) {
      const float4 four = *reinterpret_cast<const float4 *>(w + c);
#pragma unroll
      for (int p = 0; p < kP; ++p) {
        sum[p][c] += x[p] * four.x;
        sum[p][c + 1] += x[p] * four.y;
        sum[p][c + 2] += x[p] * four.z;
        sum[p][c + 3] += x[p] * four.w;
      }
    }
  };
@MASKS@
#pragma unroll @UNROLL@
  for (int input = 0; input < @CI@; ++input) {
    const int channel = group * @CI@ + input;
    (void)channel;
@MULTIPLY@
#pragma unroll
    for (int p = 0; p < kP; ++p)
      start[p] += @ID@ * @IH@ * @IW@;
  }
#pragma unroll
  for (int c = 0; c < kC; ++c) {
    if (column0 + c < @CO@) {
      const int channel = group * @CO@ + column0 + c;
#pragma unroll
      for (int p = 0; p < kP; ++p) {
        const int pixel = pixel0 + p * kThreads;
        const int qw = pixel % count_w, qh = pixel / count_w % count_h;
        const int qd = pixel / (count_w * count_h) % count_d;
        const int n = pixel / (count_w * count_h * count_d);
        const int od = qd * @OSD@ + part[0], oh = qh * @OSH@ + part[1];
        if (pixel < pixels) {
@FINISH@
        }
      }
    }
  }
}
)cuda";

std::int64_t products(const ConvolutionShape &shape) { return shape.taps() * shape.group_in; }

/// Output channels of a thread that are worth listing.
std::vector<std::int64_t> channel_counts(const ConvolutionShape &shape) {
  std::vector<std::int64_t> counts;
  for (const std::int64_t count : {16, 32, 8, 4})
    if (count < 2 * shape.group_out || count == 4)
      counts.push_back(count);
  return counts;
}

bool claims(const GraphIndex &index, const model::Node &anchor) {
  const auto shape = convolution_shape(index, anchor);
  const model::Dtype dtype = anchor.type().dtype;
  if (!shape || !model::is_floating(dtype) || dtype == model::Dtype::Float64)
    return false;
  const std::int64_t phases =
      shape->transposed ? shape->stride[0] * shape->stride[1] * shape->stride[2] : 1;
  const model::Shape &in = index.node(anchor.inputs[0]).type().shape;
  return shape->group_in <= kMostInputChannels && products(*shape) / phases <= kMostProducts &&
         products(*shape) * 4 <= kMostWeights && phases <= kMostPhases &&
         (!shape->transposed || shape->stride[2] <= kMostTogether) &&
         shape->groups * ceil_divide(shape->group_out, 4) <= 65535 &&
         model::elements_of(in) < (std::int64_t{1} << 31) &&
         shape->batch * shape->out[0] * shape->out[1] * shape->out[2] < (std::int64_t{1} << 30);
}

/// About the microseconds of a launch, to rank with. A multiprocessor multiplies 128 times a cycle; what reaches registers from shared
/// memory or the first-level cache takes a cycle for each 128 bytes.
double time_of(const ConvolutionShape &shape, const std::vector<Together> &parts,
               std::int64_t along, std::int64_t channels, std::int64_t pixels, std::int64_t threads,
               const DeviceFacts &device) {
  const arch::DirectRates &rates = device.rates.direct;
  const double registers = static_cast<double>(pixels * channels * along + 4 * pixels + 32);
  const double resident = std::max(
      1.0, std::min({std::floor(device.registers_multiprocessor / (registers * threads)),
                     std::floor(static_cast<double>(device.threads_multiprocessor) / threads),
                     std::floor(rates.shared_bytes / (4.0 * products(shape) * channels + 1024))}));
  const std::int64_t columns = shape.groups * ceil_divide(shape.group_out, channels);
  double cycles = 0, blocks = 0, outputs = 0, waits = 0;
  for (const Together &part : parts) {
    const std::int64_t positions = shape.batch * part.count[0] * part.count[1] * part.count[2];
    const double count = static_cast<double>(ceil_divide(positions, threads * pixels) * columns);
    const double steps = static_cast<double>(part.taps.size()) * shape.group_in;
    const double arithmetic = steps * (pixels * channels + 6 * pixels) * threads / 128;
    const double loads = steps * (channels + 1.5 * pixels) * threads / 32;
    const double stores = 2.0 * pixels * channels * along * threads / 32;
    blocks += count;
    cycles += count * (std::max(arithmetic, loads) * 1.15 + stores + 300);
    // About a dozen loads are under way at once.
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

std::vector<std::pair<double, Configuration>> guesses_of(const ConvolutionShape &shape,
                                                         const DeviceFacts &device) {
  const ConvolutionPhases all = convolution_phases(shape, false);
  const std::vector<Together> parts = together(all);
  const std::int64_t along = all.output_step[2];
  std::vector<std::pair<double, Configuration>> guesses;
  for (const std::int64_t channels : channel_counts(shape))
    for (const int pixels : {8, 4, 2, 1})
      for (const int threads : {128, 64, 256}) {
        const std::int64_t sums = channels * pixels * along;
        if (sums > kMostSums || (threads == 256 && sums > 64) ||
            products(shape) * channels > kMostWeights)
          continue;
        guesses.emplace_back(time_of(shape, parts, along, channels, pixels, threads, device),
                             Configuration{{"channels", static_cast<int>(channels)},
                                           {"pixels", pixels},
                                           {"threads", threads}});
      }
  std::ranges::stable_sort(guesses, {}, &std::pair<double, Configuration>::first);
  return guesses;
}

std::vector<Configuration> configurations(const GraphIndex &index, const Region &region,
                                          const DeviceFacts &device) {
  std::vector<Configuration> list;
  for (auto &[time, configuration] :
       guesses_of(*convolution_shape(index, index.node(region.anchor)), device))
    if (list.size() < 16)
      list.push_back(std::move(configuration));
  return list;
}

double estimate(const GraphIndex &index, const model::Node &anchor, const DeviceFacts &device) {
  return guesses_of(*convolution_shape(index, anchor), device).front().first;
}

/// Which dimensions an element may leave the input in.
std::array<bool, 3> leaves(const ConvolutionShape &shape, const ConvolutionPhases &all,
                           const std::vector<Together> &parts) {
  std::array<bool, 3> result{};
  for (const Together &part : parts)
    for (const auto &[tap, phase] : part.taps)
      for (std::size_t d = 0; d < 3; ++d)
        result[d] = result[d] || tap.offset[d] < 0 ||
                    (part.count[d] - 1) * all.input_step[d] + tap.offset[d] >= shape.in[d];
  return result;
}

Result<Lowering> lower(const GraphIndex &index, const Region &region,
                       const Configuration &configuration, const DeviceFacts &device,
                       const std::string &prefix) {
  const auto channels = setting_of(configuration, "channels", 4, 64);
  const auto pixels = setting_of(configuration, "pixels", 1, 16);
  const auto threads = setting_of(configuration, "threads", 32, 1024);
  for (const auto &setting : {channels, pixels, threads})
    if (!setting)
      return std::unexpected(setting.error());
  const model::Node &anchor = index.node(region.anchor);
  const ConvolutionShape shape = *convolution_shape(index, anchor);
  const ConvolutionPhases all = convolution_phases(shape, false);
  const std::vector<Together> parts = together(all);
  const std::int64_t along = all.output_step[2], sums = *channels * *pixels * along;
  const std::int64_t weights = products(shape) * *channels;
  if (*channels % 4 != 0 || *threads % 32 != 0 || sums > kMostSums || weights > kMostWeights)
    return fail("the direct convolution's tile does not fit registers or shared memory",
                "take a configuration that the family lists");
  const std::int64_t slice = shape.kernel[1] * shape.kernel[2];
  const bool straight = shape.transposed || slice * *channels * *pixels <= kMostStraight;

  ElementWriter writer(index, region);
  const auto load = [&](std::size_t operand, const Index &at) {
    std::string before;
    const std::string value = writer.load(anchor.inputs[operand], at, before);
    return before + "        value = (float)(" + value + ");\n";
  };
  const auto operand = std::ranges::find(region.inputs, anchor.inputs[0]);
  const model::TensorType input = region_type(index, region, anchor.inputs[0]);
  const bool in_memory = operand != region.inputs.end() && model::is_contiguous(input) &&
                         input.dtype == model::Dtype::Float32;
  const std::array<bool, 3> leaving =
      in_memory ? leaves(shape, all, parts) : std::array{true, true, true};
  std::string load_input;
  if (in_memory)
    load_input = "        value = in" + std::to_string(operand - region.inputs.begin()) +
                 "[start[p] + (@D@ * @IH@ + @H@) * @IW@ + @W@];\n";
  else
    load_input =
        "        const int n = n0[p], d = d0[p] + @D@, h = h0[p] + @H@, w = w0[p] + @W@;\n" +
        load(0, convolution_index(shape, "n", "channel", "d", "h", "w"));
  std::string places_of_pixels, set_places;
  for (std::size_t d = 0; d < 3; ++d)
    if (leaving[d]) {
      const std::string axis(1, "dhw"[d]);
      places_of_pixels += "  int " + axis + "0[kP];\n";
      set_places += "    " + axis + "0[p] = q" + axis + " * @IS" + "DHW"[d] + "@;\n";
    }
  if (!in_memory) {
    places_of_pixels += "  int n0[kP];\n";
    set_places += "    n0[p] = n;\n";
  }

  const std::string first = shape.transposed ? "input_channel" : "output_channel";
  const std::string second = shape.transposed ? "output_channel" : "input_channel";
  std::string bias;
  if (shape.bias) {
    std::string before;
    const std::string value = writer.load(anchor.inputs[2], {"channel"}, before);
    bias = before + "        element += (float)(" + value + ");\n";
  }
  const bool whole = along > 1 && (along == 2 || along == 4) && shape.out[2] % along == 0;
  std::string finish;
  writer.bound("qw", parts.front().count[2]);
  if (whole) {
    std::vector<Index> lanes;
    std::vector<std::string> elements;
    for (std::int64_t i = 0; i < along; ++i) {
      const std::string name = "element" + std::to_string(i);
      finish += "        float " + name + " = sums[" + std::to_string(i) + "][p][c];\n";
      elements.push_back(name);
      lanes.push_back(convolution_index(shape, "n", "channel", "od", "oh",
                                        std::to_string(along) + " * qw + " + std::to_string(i)));
    }
    if (shape.bias) {
      std::string before;
      const std::string value = writer.load(anchor.inputs[2], {"channel"}, before);
      finish += before;
      for (const std::string &name : elements)
        finish += "        " + name + " += (float)(" + value + ");\n";
    }
    finish += writer.store(lanes, elements);
  } else {
    finish = "#pragma unroll\n        for (int phase = 0; phase < kTogether; ++phase) {\n"
             "          const int ow = qw * kTogether + phase;\n          if (ow < @OW@) {\n"
             "        float element = sums[phase][p][c];\n" +
             bias +
             writer.store(convolution_index(shape, "n", "channel", "od", "oh", "ow"), "element") +
             "          }\n        }\n";
  }

  const std::int64_t chunks = ceil_divide(shape.group_out, *channels);
  std::string rows, depth_rows;
  std::int64_t most = 0, depths = 0, most_steps = 1;
  for (const Together &part : parts) {
    std::set<std::pair<std::int64_t, std::int64_t>> own;
    for (const auto &[tap, phase] : part.taps)
      own.insert({tap.offset[0], tap.weight / slice});
    for (const auto &[offset, place] : own)
      depth_rows +=
          (depth_rows.empty() ? "{" : ", {") + std::to_string(offset) + ", " + std::to_string(place) + "}";
    rows += (rows.empty() ? "{" : ", {") + std::to_string(part.first[0]) + ", " + std::to_string(part.first[1]) +
            ", " + std::to_string(part.count[0]) + ", " + std::to_string(part.count[1]) + ", " +
            std::to_string(part.count[2]) + ", " + std::to_string(depths) + ", " + std::to_string(std::ssize(own)) + "}";
    depths += std::ssize(own);
    most_steps = std::max(most_steps, std::ssize(part.taps));
    most = std::max(most, shape.batch * part.count[0] * part.count[1] * part.count[2]);
  }
  const bool one = parts.size() == 1;
  const DirectText text(shape, parts, straight, leaving, load_input);
  // Short steps load for several input channels at once, so that memory is waited for less often.
  const std::int64_t unrolled =
      text.deep() || !straight ? 1 : std::clamp<std::int64_t>(12 / most_steps, 1, 4);
  Places places{
      {"PREFIX", prefix},
      {"PARTS", rows},
      {"DEPTHS", depth_rows.empty() ? "{0, 0}" : depth_rows},
      {"MASKS", text.masks()},
      {"UNROLL", std::to_string(unrolled)},
      {"PARAMETERS", writer.parameters()},
      {"THREADS", std::to_string(*threads)},
      // Else the compiler takes all registers for loads ahead, and too few warps are left to hide what these wait for.
      {"BLOCKS", std::to_string(std::clamp<std::int64_t>(device.registers_multiprocessor / ((sums + 42) * *threads), 1, 8))},
      {"P", std::to_string(*pixels)},
      {"C", std::to_string(*channels)},
      {"TOGETHER", std::to_string(along)},
      {"WEIGHTS", std::to_string(weights)},
      {"N", std::to_string(shape.batch)},
      {"CHUNKS", std::to_string(chunks)},
      {"TAPS", std::to_string(shape.taps())},
      {"CI", std::to_string(shape.group_in)},
      {"CO", std::to_string(shape.group_out)},
      {"ORDER", shape.transposed ? "to = e / @TAPS@ % kC, from = e / (@TAPS@ * kC)"
                                 : "from = e / @TAPS@ % @CI@, to = e / (@TAPS@ * @CI@)"},
      {"INPUT_CHANNEL", shape.transposed ? "group * @CI@ + from" : "from"},
      {"OUTPUT_CHANNEL", shape.transposed ? "column0 + to" : "group * @CO@ + column0 + to"},
      {"WEIGHT", load(1, convolution_index(shape, first, second, "tap_d", "tap_h", "tap_w"))},
      {"PLACES_OF_PIXELS", places_of_pixels},
      {"START", in_memory ? "(((n * @CHANNELS@ + group * @CI@) * @ID@ + qd * @ISD@) * @IH@ + qh * "
                            "@ISH@) * @IW@ + qw * @ISW@"
                          : "0"},
      {"CHANNELS", std::to_string(shape.channels_in())},
      {"SET_PLACES", set_places},
      {"MULTIPLY", text.multiply()},
      {"FINISH", finish},
      {"COUNT_D", one ? std::to_string(parts.front().count[0]) : "part[2]"},
      {"COUNT_H", one ? std::to_string(parts.front().count[1]) : "part[3]"},
      {"COUNT_W", one ? std::to_string(parts.front().count[2]) : "part[4]"}};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string letter(1, "DHW"[d]);
    places["I" + letter] = std::to_string(shape.in[d]);
    places["O" + letter] = std::to_string(shape.out[d]);
    places["K" + letter] = std::to_string(shape.kernel[d]);
    places["IS" + letter] = std::to_string(all.input_step[d]);
    places["OS" + letter] = std::to_string(all.output_step[d]);
  }
  for (const char *name : {"ORDER", "MASKS", "INPUT_CHANNEL", "OUTPUT_CHANNEL", "SET_PLACES",
                           "START", "MULTIPLY", "FINISH"})
    places[name] = fill_places(places[name], places);
  Lowering lowering;
  lowering.source = fill_places(kKernel, places);
  lowering.steps.push_back(launch_of(prefix + "_direct", ceil_divide(most, *threads * *pixels),
                                     *threads, writer.arguments(), 0, shape.groups * chunks,
                                     std::ssize(parts)));
  return lowering;
}

} // namespace

const Family kDirectConvolutionFamily{.name = "direct",
                                      .claims = claims,
                                      .takes_prologue = true,
                                      .takes_epilogue = true,
                                      .configurations = configurations,
                                      .lower = lower,
                                      .estimate = estimate,
                                      .ordinary_cores = true,
                                      .short_sums = true};

} // namespace warpwright::generator
