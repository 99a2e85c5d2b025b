// Sliding windows: configurations, kernel text and launch. See window_tile.h.
#include "generator/families/window_tile.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

constexpr std::int64_t kUnrolledStatements = 400;

constexpr std::string_view kWindowKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  typedef @TYPE@ Value;
  constexpr int kWidth = @WIDTH@, kHeight = @HEIGHT@, kRows = @ROWS@;
  constexpr int kKD = @KD@, kKH = @KH@, kKW = @KW@;
  constexpr int kTileRows = (kHeight * kRows - 1) * @SH@ + (kKH - 1) * @DH@ + 1;
  constexpr int kTileWidth = (kWidth - 1) * @SW@ + (kKW - 1) * @DW@ + 1;
  const int x = threadIdx.x % kWidth, y = threadIdx.x / kWidth % kHeight;
  const int z = threadIdx.x / (kWidth * kHeight);
  int block = blockIdx.x;
  const int ow0 = block % @TILES_W@ * kWidth;
  block /= @TILES_W@;
  const int oh0 = block % @TILES_H@ * (kHeight * kRows);
  block /= @TILES_H@;
  const int od = block % @OD@;
  const int plane0 = block / @OD@ * @PLANES@;
@STAGE@
  const int plane = plane0 + z, ow = ow0 + x, oh1 = oh0 + y * kRows;
  if (z >= @PLANES@ || plane >= @ALL_PLANES@ || ow >= @OW@ || oh1 >= @OH@)
    return;
@SETUP@
  Value sums[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    sums[r] = @INITIAL@;
@DEPTH_UNROLL@
  for (int kd = 0; kd < kKD; ++kd) {
#pragma unroll
    for (int line = 0; line < (kRows - 1) * @SH@ + (kKH - 1) * @DH@ + 1; ++line) {
      Value v[kKW];
#pragma unroll
      for (int kw = 0; kw < kKW; ++kw) {
@READ@
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int from = line - r * @SH@;
        if (from >= 0 && from % @DH@ == 0 && from / @DH@ < kKH) {
          const int kh = from / @DH@;
          Value sum = sums[r];
@ACCUMULATE@
          sums[r] = sum;
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int oh = oh1 + r;
    if (oh < @OH@) {
      Value sum = sums[r];
@FINISH@
    }
  }
}
)cuda";

constexpr std::string_view kStage = R"cuda(
  extern __shared__ __align__(16) unsigned char staged_bytes[];
  Value *staged = reinterpret_cast<Value *>(staged_bytes);
  for (int line = threadIdx.x / 32; line < @PLANES@ * kKD * kTileRows; line += @THREADS@ / 32) {
    const int h = oh0 * @SH@ - @PH@ + line % kTileRows;
    const int d = od * @SD@ - @PD@ + line / kTileRows % kKD * @DD@;
    const int plane = plane0 + line / (kTileRows * kKD);
    const bool inside = h >= 0 && h < @IH@ && d >= 0 && d < @ID@ && plane < @ALL_PLANES@;
#pragma unroll @STAGE_UNROLL@
    for (int column = threadIdx.x % 32; column < kTileWidth; column += 32) {
      const int w = ow0 * @SW@ - @PW@ + column;
      Value value = @FILL@;
      if (inside && w >= 0 && w < @IW@) {
@LOAD@
      }
      staged[line * kTileWidth + column] = value;
    }
  }
  __syncthreads();)cuda";

constexpr std::string_view kReadShared =
    R"cuda(        v[kw] = staged[((z * kKD + kd) * kTileRows + y * kRows * @SH@ + line) * kTileWidth + x * @SW@ + kw * @DW@];)cuda";

constexpr std::string_view kReadMemory = R"cuda(
        const int w = ow * @SW@ - @PW@ + kw * @DW@;
        const int h = oh1 * @SH@ - @PH@ + line;
        const int d = od * @SD@ - @PD@ + kd * @DD@;
        Value value = @FILL@;
        if (w >= 0 && w < @IW@ && h >= 0 && h < @IH@ && d >= 0 && d < @ID@) {
@LOAD@
        }
        v[kw] = value;)cuda";

std::int64_t tile_extent(std::int64_t outputs, std::int64_t stride, std::int64_t kernel,
                         std::int64_t dilation) {
  return (outputs - 1) * stride + (kernel - 1) * dilation + 1;
}

std::int64_t shared_bytes(const WindowShape &window, std::int64_t width, std::int64_t height,
                          std::int64_t rows, std::int64_t planes) {
  return planes * window.kernel[0] *
         tile_extent(height * rows, window.stride[1], window.kernel[1], window.dilation[1]) *
         tile_extent(width, window.stride[2], window.kernel[2], window.dilation[2]) * 4;
}

/// Statements that a thread's unrolled loops become, about.
std::int64_t unrolled(const WindowShape &window, std::int64_t rows) {
  return tile_extent(rows, window.stride[1], window.kernel[1], window.dilation[1]) *
         window.kernel[2];
}

} // namespace

bool unrolls_depths(const WindowShape &window, std::int64_t rows) {
  return window.kernel[0] * unrolled(window, rows) <= kUnrolledStatements;
}

std::vector<Configuration> window_configurations(const WindowShape &window,
                                                 const DeviceFacts &device) {
  std::vector<Configuration> list;
  const std::int64_t limit = std::min<std::int64_t>(device.shared_bytes_a_block, 96 * 1024);
  const auto add = [&](std::int64_t width, std::int64_t threads, std::int64_t rows, bool shared) {
    width = power_of_two_for(window.out[2], window.out[1] == 1 ? threads : width);
    rows = power_of_two_for(window.out[1], rows);
    while (rows > 1 && unrolled(window, rows) > kUnrolledStatements)
      rows /= 2;
    std::int64_t height = power_of_two_for(ceil_divide(window.out[1], rows), threads / width);
    std::int64_t planes = power_of_two_for(window.planes(), threads / (width * height));
    while (shared && shared_bytes(window, width, height, rows, planes) > limit) {
      if (planes > 1)
        planes /= 2;
      else if (height > 1)
        height /= 2;
      else if (rows > 1)
        rows /= 2;
      else
        shared = false;
    }
    Configuration configuration{{"width", static_cast<int>(width)},
                                {"height", static_cast<int>(height)},
                                {"planes", static_cast<int>(planes)},
                                {"rows", static_cast<int>(rows)},
                                {"shared", shared ? 1 : 0}};
    if (std::ranges::find(list, configuration) == list.end())
      list.push_back(configuration);
  };
  // Straight from memory first: on an H200 the first-level cache serves windows better than a staged tile did, in every shape measured.
  const bool tall = window.kernel[1] > window.stride[1] && window.out[1] > 1;
  add(32, 256, tall ? 8 : 1, false);
  add(64, 256, tall ? 4 : 1, false);
  add(32, 256, tall ? 4 : 1, false);
  add(128, 256, tall ? 4 : 1, false);
  add(64, 256, tall ? 8 : 2, false);
  add(32, 128, tall ? 16 : 4, false);
  add(64, 256, tall ? 8 : 1, true);
  add(128, 128, tall ? 4 : 1, true);
  return list;
}

Result<Lowering> lower_window(const WindowShape &window, const WindowBody &body,
                              const Configuration &configuration, const DeviceFacts &device,
                              const ElementWriter &writer, const std::string &kernel) {
  const auto width = setting_of(configuration, "width", 1, 1024);
  const auto height = setting_of(configuration, "height", 1, 1024);
  const auto planes = setting_of(configuration, "planes", 1, 1024);
  const auto rows = setting_of(configuration, "rows", 1, 64);
  const auto shared = setting_of(configuration, "shared", 0, 1);
  for (const auto &setting : {width, height, planes, rows, shared})
    if (!setting)
      return std::unexpected(setting.error());
  std::int64_t threads = std::int64_t{*width} * *height * *planes;
  if (threads > 1024)
    return fail("a window kernel cannot use " + std::to_string(threads) + " threads");
  const std::int64_t value_bytes = body.type == "double" || body.type == "long long" ? 2 : 1;
  const std::int64_t bytes =
      *shared ? shared_bytes(window, *width, *height, *rows, *planes) * value_bytes : 0;
  if (bytes > device.shared_bytes_a_block)
    return fail("the window's tile needs " + std::to_string(bytes) + " bytes of shared memory");
  const std::int64_t padded =
      ceil_divide(threads, 32) * 32; // the extra threads fall beyond `planes`

  const std::int64_t tiles_w = ceil_divide(window.out[2], *width);
  const std::int64_t tiles_h = ceil_divide(window.out[1], std::int64_t{*height} * *rows);
  const std::int64_t plane_blocks = ceil_divide(window.planes(), *planes);
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  Places places{
      {"NAME", kernel},
      {"PARAMETERS", writer.parameters()},
      {"TYPE", body.type},
      {"THREADS", number(padded)},
      {"WIDTH", number(*width)},
      {"HEIGHT", number(*height)},
      {"PLANES", number(*planes)},
      {"ROWS", number(*rows)},
      {"ALL_PLANES", number(window.planes())},
      {"TILES_W", number(tiles_w)},
      {"TILES_H", number(tiles_h)},
      {"STAGE_UNROLL", number(ceil_divide(tile_extent(*width, window.stride[2], window.kernel[2],
                                                      window.dilation[2]),
                                          32) <= 16
                                  ? 16
                                  : 4)},
      {"DEPTH_UNROLL", unrolls_depths(window, *rows) ? "#pragma unroll" : "#pragma unroll 1"}};
  const std::array<char, 3> letters{'D', 'H', 'W'};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string letter(1, letters[d]);
    places["I" + letter] = number(window.in[d]);
    places["O" + letter] = number(window.out[d]);
    places["K" + letter] = number(window.kernel[d]);
    places["S" + letter] = number(window.stride[d]);
    places["P" + letter] = number(window.padding[d]);
    places["D" + letter] = number(window.dilation[d]);
  }
  places["FILL"] = body.fill;
  places["LOAD"] = body.load;
  places["INITIAL"] = body.initial;
  places["ACCUMULATE"] = body.accumulate;
  places["FINISH"] = body.finish;
  places["SETUP"] = body.setup;
  places["STAGE"] = *shared ? fill_places(kStage, places) : std::string();
  places["READ"] = fill_places(*shared ? kReadShared : kReadMemory, places);

  Lowering lowering;
  lowering.source = fill_places(kWindowKernel, places);
  // Threads beyond `planes` leave after the barrier: their z is *planes or more.
  lowering.steps.push_back(launch_of(kernel, tiles_w * tiles_h * window.out[0] * plane_blocks,
                                     padded, writer.arguments(), bytes));
  return lowering;
}

Index window_index(const WindowShape &window, const std::string &plane, const std::string &depth,
                   const std::string &height, const std::string &width) {
  Index index = unflatten(plane, window.leading);
  const std::array<std::string, 3> parts{depth, height, width};
  for (std::size_t d = 3 - window.spatial; d < 3; ++d)
    index.push_back(parts[d]);
  return index;
}

} // namespace warpwright::generator
