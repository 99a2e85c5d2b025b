// Windows over channels-last memory: configurations, kernel text and launch. See window_channels.h.
#include "generator/families/windows/window_channels.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

constexpr std::string_view kKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  typedef @TYPE@ Value;
  constexpr int kLanes = @LANES@, kColumns = @COLUMNS@, kWidth = @VECTOR@;
  constexpr int kSpan = (kColumns - 1) * @SW@ + (@KW@ - 1) * @DW@ + 1;
  const @INT@ id = (@INT@)blockIdx.x * @THREADS@ + threadIdx.x;
  @INT@ rest = id / kLanes;
  const int owg = (int)(rest % @GROUPS_W@);
  rest /= @GROUPS_W@;
  const int oh = (int)(rest % @OH@);
  rest /= @OH@;
  const int od = (int)(rest % @OD@);
  rest /= @OD@;
  const int c1 = (int)(rest % @CHANNEL_BLOCKS@) * kLanes + (int)(id % kLanes);
  const int n = (int)(rest / @CHANNEL_BLOCKS@);
  if (n >= @N@ || c1 >= @VECTORS@)
    return;
  const int ow1 = owg * kColumns;
  Value sums[kColumns][kWidth];
#pragma unroll
  for (int i = 0; i < kColumns * kWidth; ++i)
    sums[i / kWidth][i % kWidth] = @INITIAL@;
@UNROLL@
  for (int kd = 0; kd < @KD@; ++kd) {
    const int d = od * @SD@ - @PD@ + kd * @DD@;
    if (d < 0 || d >= @ID@)
      continue;
@UNROLL@
    for (int kh = 0; kh < @KH@; ++kh) {
      const int h = oh * @SH@ - @PH@ + kh * @DH@;
      if (h < 0 || h >= @IH@)
        continue;
#pragma unroll
      for (int j = 0; j < kSpan; ++j) {
        const int w = ow1 * @SW@ - @PW@ + j;
        bool wanted = false;
#pragma unroll
        for (int column = 0; column < kColumns; ++column)
          wanted = wanted || (j >= column * @SW@ && (j - column * @SW@) % @DW@ == 0 &&
                              (j - column * @SW@) / @DW@ < @KW@);
        if (!wanted || w < 0 || w >= @IW@)
          continue;
        Value values[kWidth];
@LOAD@
#pragma unroll
        for (int column = 0; column < kColumns; ++column) {
          const int from = j - column * @SW@;
          if (from >= 0 && from % @DW@ == 0 && from / @DW@ < @KW@) {
#pragma unroll
            for (int i = 0; i < kWidth; ++i) {
              const Value value = values[i];
              Value sum = sums[column][i];
              @ACCUMULATE@
              sums[column][i] = sum;
            }
          }
        }
      }
    }
  }
  Value results[kColumns][kWidth];
#pragma unroll
  for (int column = 0; column < kColumns; ++column) {
    const int ow = ow1 + column;
    (void)ow;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const Value sum = sums[column][i];
@RESULT@
      results[column][i] = element;
    }
  }
@STORE@
}
)cuda";

/// A vector of channels for each column.
constexpr std::string_view kStoreChannels = R"cuda(
#pragma unroll
  for (int column = 0; column < kColumns; ++column) {
    const int ow = ow1 + column;
    if (ow < @OW@) {
@TEXT@
    }
  })cuda";

/// A vector of columns for each channel.
constexpr std::string_view kStoreColumns = R"cuda(
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const int c = c1 * kWidth + i;
@TEXT@
  })cuda";

std::int64_t channels_of(const WindowShape &window) { return window.leading.back(); }

/// Whether the stored elements' neighbours in memory are along the row and not along channels.
bool stores_rows(const ElementWriter &writer, const WindowShape &window) {
  return window.out[2] % 4 == 0 && writer.store_width(1) == 1 && writer.store_width() >= 4;
}

Index index_of(const WindowShape &window, const std::string &channel, const std::string &depth,
               const std::string &height, const std::string &width) {
  Index index{"n", channel};
  const std::array<std::string, 3> parts{depth, height, width};
  for (std::size_t d = 3 - window.spatial; d < 3; ++d)
    index.push_back(parts[d]);
  return index;
}

} // namespace

int channels_side_by_side(const ElementWriter &writer, const WindowShape &window,
                          const std::string &operand) {
  if (window.leading.size() != 2 || channels_of(window) < 2)
    return 0;
  const int width = std::min(4, writer.load_width(operand, 1));
  return width > 1 ? width : 0;
}

std::vector<Configuration> channel_configurations(const ElementWriter &writer,
                                                  const WindowShape &window,
                                                  const std::string &operand,
                                                  const DeviceFacts &device) {
  const int vector = channels_side_by_side(writer, window, operand);
  if (vector == 0)
    return {};
  const std::int64_t vectors = channels_of(window) / vector;
  const bool rows = stores_rows(writer, window);
  const bool shares = (window.kernel[2] - 1) * window.dilation[2] + 1 > window.stride[2];
  const std::int64_t outputs =
      window.leading[0] * window.out[0] * window.out[1] * window.out[2] * vectors;
  std::vector<Configuration> list;
  const auto add = [&](std::int64_t columns, int threads) {
    columns = std::min(columns, power_of_two_for(window.out[2], 4));
    const std::int64_t lanes = power_of_two_for(vectors, rows ? 8 : 32);
    const Configuration configuration{{"channels_last", 1},
                                      {"vector", vector},
                                      {"lanes", static_cast<int>(lanes)},
                                      {"columns", static_cast<int>(columns)},
                                      {"threads", threads}};
    if (std::ranges::find(list, configuration) == list.end())
      list.push_back(configuration);
  };
  // Where few outputs are made, a thread makes one, so that more of them run.
  const bool many = outputs / 4 >= std::int64_t{device.multiprocessors} * 1024;
  const std::int64_t best = rows ? 4 : !many ? 1 : shares ? 4 : 2;
  for (const int threads : {256, 128})
    add(best, threads);
  for (const std::int64_t columns : {4, 2, 1})
    add(columns, 256);
  return list;
}

Result<Lowering> lower_channels(const WindowShape &window, const ChannelBody &body,
                                const Configuration &configuration, ElementWriter &writer,
                                const std::string &operand, const std::string &kernel) {
  const auto vector = setting_of(configuration, "vector", 2, 4);
  const auto lanes = setting_of(configuration, "lanes", 1, 32);
  const auto columns = setting_of(configuration, "columns", 1, 4);
  const auto threads = setting_of(configuration, "threads", 32, 1024);
  for (const auto &setting : {vector, lanes, columns, threads})
    if (!setting)
      return std::unexpected(setting.error());
  if (window.leading.size() != 2 || channels_of(window) % *vector != 0)
    return fail("vectors of " + std::to_string(*vector) + " channels do not fit");
  const std::int64_t vectors = channels_of(window) / *vector, blocks = ceil_divide(vectors, *lanes),
                     groups = ceil_divide(window.out[2], *columns),
                     all = window.leading[0] * blocks * window.out[0] * window.out[1] * groups *
                           *lanes;
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  Places places{{"NAME", kernel},
                {"PARAMETERS", writer.parameters()},
                {"TYPE", body.type},
                {"INT", all + *threads > INT32_MAX ? "long long" : "int"},
                {"THREADS", number(*threads)},
                {"LANES", number(*lanes)},
                {"COLUMNS", number(*columns)},
                {"VECTOR", number(*vector)},
                {"GROUPS_W", number(groups)},
                {"CHANNEL_BLOCKS", number(blocks)},
                {"VECTORS", number(vectors)},
                {"N", number(window.leading[0])},
                {"INITIAL", body.initial},
                {"ACCUMULATE", body.accumulate},
                {"RESULT", body.result},
                {"UNROLL", window.kernel[0] * window.kernel[1] * window.kernel[2] <= 32
                               ? "#pragma unroll"
                               : "#pragma unroll 1"}};
  add_sizes(window, places);
  writer.bound("c1", vectors);
  writer.bound("owg", groups);
  const auto channel = [&](int lane) { return number(*vector) + " * c1 + " + number(lane); };
  std::vector<Index> loaded, stored;
  std::vector<std::string> elements;
  for (int i = 0; i < *vector; ++i)
    loaded.push_back(index_of(window, channel(i), "d", "h", "w"));
  std::string load;
  const std::vector<std::string> values = writer.load(operand, loaded, load);
  for (int i = 0; i < *vector; ++i)
    load += "values[" + number(i) + "] = (Value)(" + values[static_cast<std::size_t>(i)] + ");\n";
  places["LOAD"] = load;
  const bool rows = *columns == 4 && stores_rows(writer, window);
  for (int i = 0; i < (rows ? 4 : *vector); ++i) {
    stored.push_back(rows ? index_of(window, "c", "od", "oh", "4 * owg + " + number(i))
                          : index_of(window, channel(i), "od", "oh", "ow"));
    elements.push_back(rows ? "results[" + number(i) + "][i]"
                            : "results[column][" + number(i) + "]");
  }
  places["TEXT"] = writer.store(stored, elements);
  places["STORE"] = fill_places(rows ? kStoreColumns : kStoreChannels, places);
  Lowering lowering;
  lowering.source = fill_places(kKernel, places);
  lowering.steps.push_back(
      launch_of(kernel, ceil_divide(all, *threads), *threads, writer.arguments()));
  return lowering;
}

} // namespace warpwright::generator
