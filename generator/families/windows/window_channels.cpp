// Windows over channels-last memory: configurations, kernel text and launch; see window_channels.h.
#include "generator/families/windows/window_channels.h"

#include <algorithm>

namespace warpwright::families::windows {
namespace {

constexpr const char *kDevice = "\n"
#include "generator/device/window_channels.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
struct @NAME@_windows {
  using Value = @TYPE@;
  using Number = @NUMBER@;
  static __device__ __forceinline__ Value initial() { return @INITIAL@; }
  static constexpr int @SIZES@;
  static constexpr int @SETTINGS@;
};
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  using Value = @TYPE@;
  constexpr int kWidth = @VECTOR@;
  warpwright_windows::Channels<@NAME@_windows>::run(
      [&](const int n, const int c1, const int d, const int h, const int w, Value (&values)[kWidth]) {
@LOAD@      },
      [&](const int c1, const int i, const int kd, const int kh, const int from, const Value value, Value &sum) {
@ACCUMULATE@
      },
      [&](const int c1, const int i, const Value sum, const int od, const int oh, const int ow) {
@RESULT@
        return element;
      },
      [&](const int n, const int c1, const int od, const int oh, const int ow, const Value (&elements)[kWidth]) {
@STORE_CHANNELS@      },
      [&](const int n, const int c, const int od, const int oh, const int ow4, const Value (&elements)[@COLUMNS@]) {
@STORE_COLUMNS@      });
}
)cuda";

std::int64_t channels_of(const WindowShape &window) { return window.leading.back(); }

/// True if stored elements that are neighbors in memory lie along the row, not along channels.
bool stores_rows(const elements::ElementWriter &writer, const WindowShape &window) {
  return window.out[2] % 4 == 0 && writer.store_width(1) == 1 && writer.store_width() >= 4;
}

elements::Index index_of(const WindowShape &window, const std::string &channel,
                         const std::string &depth, const std::string &height,
                         const std::string &width) {
  elements::Index index{"n", channel};
  const std::array<std::string, 3> parts{depth, height, width};
  for (std::size_t d = 3 - window.spatial; d < 3; ++d)
    index.push_back(parts[d]);
  return index;
}

} // namespace

int channels_side_by_side(const elements::ElementWriter &writer, const WindowShape &window,
                          const std::string &operand) {
  if (window.leading.size() != 2 || channels_of(window) < 2)
    return 0;
  const int width = std::min(4, writer.load_width(operand, 1));
  return width > 1 ? width : 0;
}

std::vector<elements::Configuration> channel_configurations(const elements::ElementWriter &writer,
                                                            const WindowShape &window,
                                                            const std::string &operand,
                                                            const elements::DeviceFacts &device) {
  const int vector = channels_side_by_side(writer, window, operand);
  if (vector == 0)
    return {};
  const std::int64_t vectors = channels_of(window) / vector;
  const bool rows = stores_rows(writer, window);
  const bool shares = (window.kernel[2] - 1) * window.dilation[2] + 1 > window.stride[2];
  const std::int64_t outputs =
      window.leading[0] * window.out[0] * window.out[1] * window.out[2] * vectors;
  std::vector<elements::Configuration> list;
  const auto add = [&](std::int64_t columns, int threads) {
    columns = std::min(columns, elements::power_of_two_for(window.out[2], 4));
    const std::int64_t lanes = elements::power_of_two_for(vectors, rows ? 8 : 32);
    const elements::Configuration configuration{{"channels_last", 1},
                                                {"vector", vector},
                                                {"lanes", static_cast<int>(lanes)},
                                                {"columns", static_cast<int>(columns)},
                                                {"threads", threads}};
    if (std::ranges::find(list, configuration) == list.end())
      list.push_back(configuration);
  };
  // If there are few outputs, a thread computes one, so that more threads run.
  const bool many = outputs / 4 >= std::int64_t{device.multiprocessors} * 1024;
  const std::int64_t best = rows ? 4 : !many ? 1 : shares ? 4 : 2;
  for (const int threads : {256, 128})
    add(best, threads);
  for (const std::int64_t columns : {4, 2, 1})
    add(columns, 256);
  return list;
}

Result<elements::Lowering> lower_channels(const WindowShape &window, const ChannelBody &body,
                                          const elements::Configuration &configuration,
                                          elements::ElementWriter &writer,
                                          const std::string &operand, const std::string &kernel) {
  const auto settings = elements::settings_of(
      configuration,
      {{"vector", 2, 4}, {"lanes", 1, 32}, {"columns", 1, 4}, {"threads", 32, 1024}});
  if (!settings)
    return std::unexpected(settings.error());
  const int vector = settings->at("vector"), lanes = settings->at("lanes"),
            columns = settings->at("columns"), threads = settings->at("threads");
  if (window.leading.size() != 2 || channels_of(window) % vector != 0)
    return fail("vectors of " + std::to_string(vector) + " channels do not fit");
  const std::int64_t vectors = channels_of(window) / vector,
                     blocks = elements::ceil_divide(vectors, lanes),
                     groups = elements::ceil_divide(window.out[2], columns),
                     all = window.leading[0] * blocks * window.out[0] * window.out[1] * groups *
                           lanes;
  const bool rows = columns == 4 && stores_rows(writer, window);
  const bool unrolls = window.kernel[0] * window.kernel[1] * window.kernel[2] <= 32;
  elements::Substitutions places{
      {"NAME", kernel},
      {"PARAMETERS", writer.parameters()},
      {"TYPE", body.type},
      {"NUMBER", all + threads > INT32_MAX ? "long long" : "int"},
      {"THREADS", std::to_string(threads)},
      {"VECTOR", std::to_string(vector)},
      {"COLUMNS", std::to_string(columns)},
      {"SIZES", sizes_text(window)},
      {"SETTINGS", elements::constants_text({{"kBatch", window.leading[0]},
                                             {"kVector", vector},
                                             {"kVectors", vectors},
                                             {"kColumns", columns},
                                             {"kGroupsW", groups},
                                             {"kThreads", threads},
                                             {"kLanes", lanes},
                                             {"kChannelBlocks", blocks},
                                             {"kStoresRows", rows},
                                             {"kUnrollD", unrolls ? window.kernel[0] : 1},
                                             {"kUnrollH", unrolls ? window.kernel[1] : 1}})},
      {"INITIAL", body.initial},
      {"ACCUMULATE", body.accumulate},
      {"RESULT", body.result}};
  writer.bound("c1", vectors);
  writer.bound("ow4", groups);
  const auto channel = [&](int lane) {
    return std::to_string(vector) + " * c1 + " + std::to_string(lane);
  };
  std::vector<elements::Index> loaded, stored;
  std::vector<std::string> elements;
  for (int i = 0; i < vector; ++i)
    loaded.push_back(index_of(window, channel(i), "d", "h", "w"));
  std::string load;
  const std::vector<std::string> values = writer.load(operand, loaded, load);
  for (int i = 0; i < vector; ++i)
    load += "values[" + std::to_string(i) + "] = (Value)(" + values[i] + ");\n";
  places["LOAD"] = load;
  for (int i = 0; i < (rows ? columns : vector); ++i) {
    stored.push_back(rows ? index_of(window, "c", "od", "oh", "4 * ow4 + " + std::to_string(i))
                          : index_of(window, channel(i), "od", "oh", "ow"));
    elements.push_back("elements[" + std::to_string(i) + "]");
  }
  places["STORE_CHANNELS"] = places["STORE_COLUMNS"] = "";
  places[rows ? "STORE_COLUMNS" : "STORE_CHANNELS"] = writer.store(stored, elements);
  elements::Lowering lowering;
  lowering.source = kDevice + elements::fill_places(kKernel, places);
  lowering.steps.push_back(elements::launch_of(kernel, elements::ceil_divide(all, threads), threads,
                                               writer.arguments()));
  return lowering;
}

} // namespace warpwright::families::windows
