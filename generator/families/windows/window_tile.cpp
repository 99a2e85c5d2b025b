// Sliding windows: configurations, kernel text and launch. See window_tile.h.
#include "generator/families/windows/window_tile.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

constexpr std::int64_t kUnrolledStatements = 400;

constexpr std::string_view kWindowKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  typedef @TYPE@ Value;
  constexpr int kWidth = @WIDTH@, kHeight = @HEIGHT@, kRows = @ROWS@, kColumns = @COLUMNS@;
  constexpr int kKD = @KD@, kKH = @KH@, kKW = @KW@;
  constexpr int kTileRows = (kHeight * kRows - 1) * @SH@ + (kKH - 1) * @DH@ + 1;
  constexpr int kTileWidth = (kWidth - 1) * @SW@ + (kKW - 1) * @DW@ + 1;
  const int x = threadIdx.x % kWidth, y = threadIdx.x / kWidth % kHeight;
  const int z = threadIdx.x / (kWidth * kHeight);
  int block = blockIdx.x;
  const int ow0 = block % @TILES_W@ * (kWidth * kColumns);
  block /= @TILES_W@;
  const int oh0 = block % @TILES_H@ * (kHeight * kRows);
  block /= @TILES_H@;
  const int od = block % @OD@;
  const int plane0 = block / @OD@ * @PLANES@;
@STAGE@
  const int plane = plane0 + z, ow1 = ow0 + x * kColumns, oh1 = oh0 + y * kRows;
  if (z >= @PLANES@ || plane >= @ALL_PLANES@ || ow1 >= @OW@ || oh1 >= @OH@)
    return;
@SETUP@
  Value sums[kRows][kColumns];
#pragma unroll
  for (int i = 0; i < kRows * kColumns; ++i)
    sums[i / kColumns][i % kColumns] = @INITIAL@;
@DEPTH_UNROLL@
  for (int kd = 0; kd < kKD; ++kd) {
#pragma unroll
    for (int line = 0; line < (kRows - 1) * @SH@ + (kKH - 1) * @DH@ + 1; ++line) {
@READ@
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int from = line - r * @SH@;
        if (from >= 0 && from % @DH@ == 0 && from / @DH@ < kKH) {
          const int kh = from / @DH@;
#pragma unroll
          for (int c = 0; c < kColumns; ++c) {
            Value v[kKW];
#pragma unroll
            for (int kw = 0; kw < kKW; ++kw)
              v[kw] = across[kFirst + c * @SW@ + kw * kSpread];
            Value sum = sums[r][c];
@ACCUMULATE@
            sums[r][c] = sum;
          }
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int oh = oh1 + r;
    if (oh < @OH@) {
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
    R"cuda(      constexpr int kFirst = 0, kSpread = 1;
      Value across[kKW];
#pragma unroll
      for (int kw = 0; kw < kKW; ++kw)
        across[kw] = staged[((z * kKD + kd) * kTileRows + y * kRows * @SH@ + line) * kTileWidth + x * @SW@ + kw * @DW@];)cuda";

constexpr std::string_view kReadMemory = R"cuda(
      constexpr int kFirst = 0, kSpread = 1;
      Value across[kKW];
#pragma unroll
      for (int kw = 0; kw < kKW; ++kw) {
        const int w = ow1 * @SW@ - @PW@ + kw * @DW@;
        const int h = oh1 * @SH@ - @PH@ + line;
        const int d = od * @SD@ - @PD@ + kd * @DD@;
        Value value = @FILL@;
        if (w >= 0 && w < @IW@ && h >= 0 && h < @IH@ && d >= 0 && d < @ID@) {
@LOAD@
        }
        across[kw] = value;
      })cuda";

/// Four neighbouring outputs: the inputs that they share, as whole vectors from the multiple of 4 before them on.
constexpr std::string_view kReadVectors = R"cuda(
      constexpr int kFirst = (4 - @PW@ % 4) % 4, kSpread = @DW@;
      constexpr int kVectors = (kFirst + 3 * @SW@ + (kKW - 1) * @DW@ + 1 + 3) / 4;
      Value across[kVectors * 4];
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        const int w4 = (ow1 * @SW@ - @PW@ - kFirst) / 4 + i;
        const int h = oh1 * @SH@ - @PH@ + line;
        const int d = od * @SD@ - @PD@ + kd * @DD@;
        Value *const four = across + i * 4;
        four[0] = four[1] = four[2] = four[3] = @FILL@;
        if (w4 >= 0 && w4 < @IW@ / 4 && h >= 0 && h < @IH@ && d >= 0 && d < @ID@) {
@LOAD4@
        }
      })cuda";

constexpr std::string_view kFinish = R"cuda(
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int ow = ow1 + c;
        if (ow < @OW@) {
          const Value sum = sums[r][c];
@RESULT@
@STORE@
        }
      })cuda";

constexpr std::string_view kFinishVectors = R"cuda(
      Value elements[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int ow = ow1 + c;
        (void)ow;
        const Value sum = sums[r][c];
@RESULT@
        elements[c] = element;
      }
      const int ow4 = ow1 / 4;
@STORE4@)cuda";

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
std::int64_t unrolled(const WindowShape &window, std::int64_t rows, std::int64_t columns) {
  return columns == 1 ? tile_extent(rows, window.stride[1], window.kernel[1], window.dilation[1]) *
                            window.kernel[2]
                      : rows * window.kernel[1] * columns * window.kernel[2] / 2;
}

} // namespace

void add_sizes(const WindowShape &window, Places &places) {
  const std::array<char, 3> letters{'D', 'H', 'W'};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string letter(1, letters[d]);
    places["I" + letter] = std::to_string(window.in[d]);
    places["O" + letter] = std::to_string(window.out[d]);
    places["K" + letter] = std::to_string(window.kernel[d]);
    places["S" + letter] = std::to_string(window.stride[d]);
    places["P" + letter] = std::to_string(window.padding[d]);
    places["D" + letter] = std::to_string(window.dilation[d]);
  }
}

bool unrolls_depths(const WindowShape &window, std::int64_t rows, std::int64_t columns) {
  return window.kernel[0] * unrolled(window, rows, columns) <= kUnrolledStatements;
}

std::vector<Configuration> window_configurations(const WindowShape &window,
                                                 const DeviceFacts &device) {
  std::vector<Configuration> list;
  const std::int64_t limit = std::min(device.shared_bytes_block, device.rates.windows.shared_bytes);
  const auto add = [&](std::int64_t width, std::int64_t threads, std::int64_t rows, bool shared,
                       int columns = 1) {
    width =
        power_of_two_for(ceil_divide(window.out[2], columns), window.out[1] == 1 ? threads : width);
    rows = power_of_two_for(window.out[1], rows);
    while (rows > 1 && unrolled(window, rows, columns) > kUnrolledStatements)
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
                                {"columns", columns},
                                {"shared", shared ? 1 : 0}};
    if (std::ranges::find(list, configuration) == list.end())
      list.push_back(configuration);
  };
  // In the order of measurements on an H200 (bench/results/h200/windows.md). The first-level cache served windows better than a staged tile
  // in every shape. Four outputs a thread pay where neighbouring windows share elements, less over depths, where rows are short.
  const bool tall = window.kernel[1] > window.stride[1] && window.out[1] > 1;
  const bool deep = window.kernel[0] > 1;
  const bool shares = (window.kernel[2] - 1) * window.dilation[2] + 1 > window.stride[2];
  const auto vectors = [&] {
    if (window.in[2] % 4 != 0 || window.out[2] < 4)
      return;
    if (tall && window.stride[1] == 1)
      add(32, 128, 8, false, 4);
    add(64, 256, tall ? 2 : 1, false, 4);
    add(32, 256, tall ? 4 : 1, false, 4);
    add(32, 128, tall ? 8 : 2, false, 4);
  };
  if (shares && !deep)
    vectors();
  if (deep)
    add(32, 256, tall ? 4 : 1, false);
  add(64, 256, tall ? 8 : 1, false);
  add(32, 256, tall ? 8 : 1, false);
  if (!shares || deep)
    vectors();
  add(64, 256, tall ? 4 : 2, false);
  add(32, 128, tall ? 16 : 4, false);
  add(128, 256, tall ? 4 : 1, false);
  add(32, 256, tall ? 4 : 1, false);
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
  const auto columns = setting_of(configuration, "columns", 1, 4);
  for (const auto &setting : {width, height, planes, rows, shared, columns})
    if (!setting)
      return std::unexpected(setting.error());
  std::int64_t threads = std::int64_t{*width} * *height * *planes;
  if (threads > 1024)
    return fail("a window kernel cannot use " + std::to_string(threads) + " threads");
  if (*columns != 1 && (*columns != 4 || *shared == 1 || window.in[2] % 4 != 0))
    return fail("a window kernel cannot give a thread " + std::to_string(*columns) +
                " columns there");
  const std::int64_t value_bytes = body.type == "double" || body.type == "long long" ? 2 : 1;
  const std::int64_t bytes =
      *shared ? shared_bytes(window, *width, *height, *rows, *planes) * value_bytes : 0;
  if (bytes > device.shared_bytes_block)
    return fail("the window's tile needs " + std::to_string(bytes) + " bytes of shared memory");
  const std::int64_t padded =
      ceil_divide(threads, 32) * 32; // the extra threads fall beyond `planes`

  const std::int64_t tiles_w = ceil_divide(window.out[2], std::int64_t{*width} * *columns);
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
      {"COLUMNS", number(*columns)},
      {"ALL_PLANES", number(window.planes())},
      {"TILES_W", number(tiles_w)},
      {"TILES_H", number(tiles_h)},
      {"STAGE_UNROLL", number(ceil_divide(tile_extent(*width, window.stride[2], window.kernel[2],
                                                      window.dilation[2]),
                                          32) <= 16
                                  ? 16
                                  : 4)},
      {"DEPTH_UNROLL",
       unrolls_depths(window, *rows, *columns) ? "#pragma unroll" : "#pragma unroll 1"}};
  add_sizes(window, places);
  places["FILL"] = body.fill;
  places["LOAD"] = body.load;
  places["INITIAL"] = body.initial;
  places["ACCUMULATE"] = body.accumulate;
  places["RESULT"] = body.result;
  places["STORE"] = body.store;
  places["LOAD4"] = body.load4;
  places["STORE4"] = body.store4;
  places["FINISH"] =
      fill_places(*columns == 4 && window.out[2] % 4 == 0 ? kFinishVectors : kFinish, places);
  places["SETUP"] = body.setup;
  places["STAGE"] = *shared ? fill_places(kStage, places) : std::string();
  places["READ"] = fill_places(*shared         ? kReadShared
                               : *columns == 4 ? kReadVectors
                                               : kReadMemory,
                               places);

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

void write_window_access(WindowBody &body, const WindowShape &window, ElementWriter &writer,
                         const std::string &operand, std::int64_t channels_per_input) {
  const auto from = [&](const std::string &width) {
    Index index = window_index(window, "plane", "d", "h", width);
    if (channels_per_input > 1)
      index[1] = "(" + index[1] + " / " + std::to_string(channels_per_input) + ")";
    return index;
  };
  std::vector<Index> loaded, stored;
  std::vector<std::string> elements;
  for (int i = 0; i < 4; ++i) {
    const std::string lane = " + " + std::to_string(i);
    loaded.push_back(from("4 * w4" + lane));
    stored.push_back(window_index(window, "plane", "od", "oh", "4 * ow4" + lane));
    elements.push_back("elements[" + std::to_string(i) + "]");
  }
  const std::string value = writer.load(operand, from("w"), body.load);
  body.load += "        value = (Value)(" + value + ");";
  const std::vector<std::string> values = writer.load(operand, loaded, body.load4);
  for (int i = 0; i < 4; ++i)
    body.load4 += "        four[" + std::to_string(i) + "] = (Value)(" + values[i] + ");\n";
  body.store = writer.store(window_index(window, "plane", "od", "oh", "ow"), "element");
  body.store4 = writer.store(stored, elements);
}

} // namespace warpwright::generator
