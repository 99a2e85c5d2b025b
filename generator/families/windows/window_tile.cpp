// Sliding windows: configurations, kernel text and launch; see window_tile.h.
#include "generator/families/windows/window_tile.h"

#include <algorithm>

namespace warpwright::families::windows {
namespace {

constexpr std::int64_t kUnrolledStatements = 400;

constexpr const char *kDevice = "\n"
#include "generator/device/window_tile.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
struct @NAME@_windows {
  using Value = @TYPE@;
  static __device__ __forceinline__ Value fill() { return @FILL@; }
  static __device__ __forceinline__ Value initial() { return @INITIAL@; }
  static constexpr int @SIZES@;
  static constexpr int @SETTINGS@;
};
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  using Value = @TYPE@;
  [[maybe_unused]] constexpr int kKD = @KD@, kKH = @KH@, kKW = @KW@;
  const auto load = [&](const int plane, const int d, const int h, const int w, Value &value) {
@LOAD@
  };
  const warpwright_windows::Windows<@NAME@_windows> windows(load);
  if (!windows.inside)
    return;
  const int plane = windows.plane;
@SETUP@
  windows.make(load,
      [&](const int plane, const int d, const int h, const int w4, Value *four) {
@LOAD4@      },
      [&](Value &sum, const Value (&v)[kKW], const int kd, const int kh) {
@ACCUMULATE@
      },
      [&](const Value sum, const int od, const int oh, const int ow) {
@RESULT@
        return element;
      },
      [&](const int od, const int oh, const int ow, const Value element) {
@STORE@      },
      [&](const int od, const int oh, const int ow4, const Value (&elements)[4]) {
@STORE4@      });
}
)cuda";

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

/// Approximate number of statements of a thread's unrolled loops.
std::int64_t unrolled(const WindowShape &window, std::int64_t rows, std::int64_t columns) {
  return columns == 1 ? tile_extent(rows, window.stride[1], window.kernel[1], window.dilation[1]) *
                            window.kernel[2]
                      : rows * window.kernel[1] * columns * window.kernel[2] / 2;
}

} // namespace

std::string sizes_text(const WindowShape &window) {
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  for (std::size_t d = 0; d < 3; ++d)
    for (const auto &[name, size] : {std::pair{"kI", &window.in},
                                     {"kO", &window.out},
                                     {"kK", &window.kernel},
                                     {"kS", &window.stride},
                                     {"kP", &window.padding},
                                     {"kD", &window.dilation}})
      sizes.emplace_back(std::string(name) + "DHW"[d], (*size)[d]);
  return elements::constants_text(sizes);
}

bool unrolls_depths(const WindowShape &window, std::int64_t rows, std::int64_t columns) {
  return window.kernel[0] * unrolled(window, rows, columns) <= kUnrolledStatements;
}

std::vector<elements::Configuration> window_configurations(const WindowShape &window,
                                                           const elements::DeviceFacts &device) {
  std::vector<elements::Configuration> list;
  const std::int64_t limit = std::min(device.shared_bytes_block, device.rates.windows.shared_bytes);
  const auto add = [&](std::int64_t width, std::int64_t threads, std::int64_t rows, bool shared,
                       int columns = 1) {
    width = elements::power_of_two_for(elements::ceil_divide(window.out[2], columns),
                                       window.out[1] == 1 ? threads : width);
    rows = elements::power_of_two_for(window.out[1], rows);
    while (rows > 1 && unrolled(window, rows, columns) > kUnrolledStatements)
      rows /= 2;
    std::int64_t height =
        elements::power_of_two_for(elements::ceil_divide(window.out[1], rows), threads / width);
    std::int64_t planes = elements::power_of_two_for(window.planes(), threads / (width * height));
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
    elements::Configuration configuration{{"width", static_cast<int>(width)},
                                          {"height", static_cast<int>(height)},
                                          {"planes", static_cast<int>(planes)},
                                          {"rows", static_cast<int>(rows)},
                                          {"columns", columns},
                                          {"shared", shared ? 1 : 0}};
    if (std::ranges::find(list, configuration) == list.end())
      list.push_back(configuration);
  };
  // The order follows measurements on an H200 (bench/results/h200/windows.md). The
  // first-level cache beat staged tiles in every shape. Four outputs per thread pay
  // if adjacent windows share elements, less over depths, where rows are short.
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

Result<elements::Lowering> lower_window(const WindowShape &window, const WindowBody &body,
                                        const elements::Configuration &configuration,
                                        const elements::DeviceFacts &device,
                                        const elements::ElementWriter &writer,
                                        const std::string &kernel) {
  const auto settings = elements::settings_of(configuration, {{"width", 1, 1024},
                                                              {"height", 1, 1024},
                                                              {"planes", 1, 1024},
                                                              {"rows", 1, 64},
                                                              {"shared", 0, 1},
                                                              {"columns", 1, 4}});
  if (!settings)
    return std::unexpected(settings.error());
  const std::int64_t width = settings->at("width"), height = settings->at("height"),
                     planes = settings->at("planes"), rows = settings->at("rows"),
                     columns = settings->at("columns"), threads = width * height * planes;
  const bool shared = settings->at("shared") == 1;
  if (threads > 1024)
    return fail("a window kernel cannot use " + std::to_string(threads) + " threads");
  if (columns != 1 && (columns != 4 || shared || window.in[2] % 4 != 0))
    return fail("a window kernel cannot give a thread " + std::to_string(columns) +
                " columns there");
  const std::int64_t value_bytes = body.type == "double" || body.type == "long long" ? 2 : 1;
  const std::int64_t bytes =
      shared ? shared_bytes(window, width, height, rows, planes) * value_bytes : 0;
  if (bytes > device.shared_bytes_block)
    return fail("the window's tile needs " + std::to_string(bytes) + " bytes of shared memory");
  // Threads beyond `planes` exit after the barrier.
  const std::int64_t padded = elements::ceil_divide(threads, 32) * 32;

  const std::int64_t tiles_w = elements::ceil_divide(window.out[2], width * columns);
  const std::int64_t tiles_h = elements::ceil_divide(window.out[1], height * rows);
  const std::int64_t plane_blocks = elements::ceil_divide(window.planes(), planes);
  const std::int64_t staged_width =
      tile_extent(width, window.stride[2], window.kernel[2], window.dilation[2]);
  const bool fours = columns == 4, stores_fours = fours && window.out[2] % 4 == 0;
  const elements::Substitutions places{
      {"NAME", kernel},
      {"PARAMETERS", writer.parameters()},
      {"TYPE", body.type},
      {"THREADS", std::to_string(padded)},
      {"KD", std::to_string(window.kernel[0])},
      {"KH", std::to_string(window.kernel[1])},
      {"KW", std::to_string(window.kernel[2])},
      {"SIZES", sizes_text(window)},
      {"SETTINGS",
       elements::constants_text(
           {{"kAllPlanes", window.planes()},
            {"kThreads", padded},
            {"kWidth", width},
            {"kHeight", height},
            {"kPlanes", planes},
            {"kRows", rows},
            {"kColumns", columns},
            {"kTilesW", tiles_w},
            {"kTilesH", tiles_h},
            {"kStaged", shared},
            {"kStageUnroll", elements::ceil_divide(staged_width, 32) <= 16 ? 16 : 4},
            {"kDepthUnroll", unrolls_depths(window, rows, columns) ? window.kernel[0] : 1}})},
      {"FILL", body.fill},
      {"INITIAL", body.initial},
      {"LOAD", fours ? std::string() : body.load},
      {"LOAD4", fours ? body.load4 : std::string()},
      {"SETUP", body.setup},
      {"ACCUMULATE", body.accumulate},
      {"RESULT", body.result},
      {"STORE", stores_fours ? std::string() : body.store},
      {"STORE4", stores_fours ? body.store4 : std::string()}};
  elements::Lowering lowering;
  lowering.source = kDevice + elements::fill_places(kKernel, places);
  lowering.steps.push_back(elements::launch_of(
      kernel, tiles_w * tiles_h * window.out[0] * plane_blocks, padded, writer.arguments(), bytes));
  return lowering;
}

elements::Index window_index(const WindowShape &window, const std::string &plane,
                             const std::string &depth, const std::string &height,
                             const std::string &width) {
  elements::Index index = elements::unflatten(plane, window.leading);
  const std::array<std::string, 3> parts{depth, height, width};
  for (std::size_t d = 3 - window.spatial; d < 3; ++d)
    index.push_back(parts[d]);
  return index;
}

void write_window_access(WindowBody &body, const WindowShape &window,
                         elements::ElementWriter &writer, const std::string &operand,
                         std::int64_t channels_per_input) {
  const auto from = [&](const std::string &width) {
    elements::Index index = window_index(window, "plane", "d", "h", width);
    if (channels_per_input > 1)
      index[1] = "(" + index[1] + " / " + std::to_string(channels_per_input) + ")";
    return index;
  };
  std::vector<elements::Index> loaded, stored;
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

} // namespace warpwright::families::windows
