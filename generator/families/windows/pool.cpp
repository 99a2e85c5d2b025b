// Pooling over one to three dimensions: maximum, average, and both adaptive forms.
//
// Plain windows use the loops of window_tile.h. Adaptive windows differ in size from one output to the next; a thread
// computes an output if windows are small, a warp if they are large (global pooling). NaN wins a maximum, as in
// PyTorch. Averages use PyTorch's divisor: the window, the window clipped to the padded input, or the number of
// elements inside. Omits: the positions of maxima.
#include "generator/families/windows/pool.h"
#include "generator/families/windows/window_channels.h"
#include "generator/families/windows/window_tile.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

#include <algorithm>

namespace warpwright::families::windows {
namespace {

bool is_adaptive(const model::Node &anchor) { return anchor.op.starts_with("adaptive"); }
bool is_maximum(const model::Node &anchor) {
  return anchor.op == op::max_pool || anchor.op == op::adaptive_max_pool;
}

bool claims(const ops::GraphIndex &index, const model::Node &anchor) {
  const bool plain = anchor.op == op::max_pool || anchor.op == op::avg_pool;
  const bool adaptive = anchor.op == op::adaptive_avg_pool || anchor.op == op::adaptive_max_pool;
  if ((!plain && !adaptive) || anchor.types.size() != 1 ||
      !model::is_floating(anchor.type().dtype) || model::elements_of(anchor.type().shape) == 0)
    return false;
  const std::size_t rank = index.node(anchor.inputs.front()).type().shape.size();
  if (adaptive)
    return rank >= 2;
  const auto found = anchor.attributes.find("kernel");
  const auto *kernel =
      found == anchor.attributes.end() ? nullptr : std::get_if<model::Shape>(&found->second);
  return kernel && !kernel->empty() && kernel->size() <= 3 && kernel->size() < rank;
}

WindowShape window_of(const ops::GraphIndex &index, const model::Node &anchor) {
  const model::Shape &in = index.node(anchor.inputs.front()).type().shape;
  const model::Shape &out = anchor.type().shape;
  const model::Shape kernel = std::get<model::Shape>(anchor.attributes.at("kernel"));
  WindowShape window;
  window.spatial = kernel.size();
  window.leading.assign(out.begin(), out.end() - kernel.size());
  const model::Shape padding = ops::list_attribute(anchor, "padding", kernel.size(), 0);
  const model::Shape dilation = ops::list_attribute(anchor, "dilation", kernel.size(), 1);
  model::Shape stride = ops::list_attribute(anchor, "stride", kernel.size(), 0);
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    const std::size_t to = 3 - kernel.size() + d;
    window.in[to] = in[in.size() - kernel.size() + d];
    window.out[to] = out[out.size() - kernel.size() + d];
    window.kernel[to] = kernel[d];
    window.stride[to] = stride[d] == 0 ? kernel[d] : stride[d];
    window.padding[to] = padding[d];
    window.dilation[to] = dilation[d];
  }
  return window;
}

/// Minus infinity as C++ text, because NVRTC has no INFINITY.
std::string lowest(const std::string &type) {
  return type == "double" ? "-__longlong_as_double(0x7ff0000000000000LL)"
                          : "-__int_as_float(0x7f800000)";
}

/// Number of lanes that share an adaptive window: a warp if windows are large, else 1.
int lanes_for(const model::Shape &in, const model::Shape &out) {
  return model::elements_of(in) / std::max<std::int64_t>(model::elements_of(out), 1) >= 32 ? 32 : 1;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  const model::Node &anchor = index.node(region.anchor);
  if (!is_adaptive(anchor)) {
    const WindowShape window = window_of(index, anchor);
    const elements::ElementWriter writer(index, region);
    auto list = channel_configurations(writer, window, anchor.inputs.front(), device);
    std::ranges::copy(window_configurations(window, device), std::back_inserter(list));
    return list;
  }
  const int lanes = lanes_for(index.node(anchor.inputs.front()).type().shape, anchor.type().shape);
  return {{{"lanes", lanes}, {"threads", 256}},
          {{"lanes", lanes}, {"threads", 128}},
          {{"lanes", 33 - lanes}, {"threads", 256}}};
}

/// Divisor of an average pool as C++ text: a constant, or the count of covered elements.
std::string divisor_text(const model::Node &anchor, const WindowShape &window) {
  if (const std::int64_t fixed = ops::integer_attribute(anchor, "divisor", 0); fixed != 0)
    return "Value(" + std::to_string(fixed) + ")";
  const bool count_padding = ops::flag_attribute(anchor, "count_include_pad", true);
  const std::array<std::string, 3> at{"od", "oh", "ow"};
  std::string product = "Value(1)";
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t pad = window.padding[d];
    if (window.kernel[d] == 1 && pad == 0)
      continue;
    const std::string begin =
        "(" + at[d] + " * " + std::to_string(window.stride[d]) + " - " + std::to_string(pad) + ")";
    const std::string end = "min(" + begin + " + " + std::to_string(window.kernel[d]) + ", " +
                            std::to_string(window.in[d] + (count_padding ? pad : 0)) + ")";
    const bool whole = (window.out[d] - 1) * window.stride[d] - pad + window.kernel[d] <=
                           window.in[d] + (count_padding ? pad : 0) &&
                       (count_padding || pad == 0);
    product += " * Value(" +
               (whole ? std::to_string(window.kernel[d])
                      : end + " - " + (count_padding ? begin : "max(" + begin + ", 0)")) +
               ")";
  }
  return product;
}

Result<elements::Lowering> lower_plain(const ops::GraphIndex &index, const elements::Region &region,
                                       const elements::Configuration &configuration,
                                       const elements::DeviceFacts &device,
                                       const std::string &prefix) {
  const model::Node &anchor = index.node(region.anchor);
  const WindowShape window = window_of(index, anchor);
  elements::ElementWriter writer(index, region);
  WindowBody body;
  body.type = writer.compute_type(region.anchor);
  if (configuration.contains("channels_last")) {
    const bool maximum = is_maximum(anchor);
    return lower_channels(
        window,
        {body.type, maximum ? lowest(body.type) : "Value(0)",
         maximum ? "sum = value > sum || value != value ? value : sum;" : "sum += value;",
         maximum ? "      const Value element = sum;"
                 : "      const Value element = sum / (" + divisor_text(anchor, window) + ");"},
        configuration, writer, anchor.inputs.front(), prefix + "_pool");
  }
  writer.bound("plane", window.planes());
  write_window_access(body, window, writer, anchor.inputs.front(), 1);
  if (is_maximum(anchor)) {
    body.fill = body.initial = lowest(body.type);
    body.accumulate = R"cuda(
#pragma unroll
          for (int kw = 0; kw < kKW; ++kw)
            sum = v[kw] > sum || v[kw] != v[kw] ? v[kw] : sum;)cuda";
    body.result = "          const Value element = sum;";
  } else {
    body.fill = body.initial = "Value(0)";
    body.accumulate = R"cuda(
          Value row = v[0];
#pragma unroll
          for (int kw = 1; kw < kKW; ++kw)
            row += v[kw];
          sum += row;)cuda";
    body.result = "          const Value element = sum / (" + divisor_text(anchor, window) + ");";
  }
  return lower_window(window, body, configuration, device, writer, prefix + "_pool");
}

constexpr std::string_view kAdaptiveKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  typedef @TYPE@ Value;
  const int lane = threadIdx.x % @LANES@;
  const long long output = (long long)blockIdx.x * (@THREADS@ / @LANES@) + threadIdx.x / @LANES@;
  if (output >= @OUTPUTS@)
    return;
@BOUNDS@
  Value sum = @INITIAL@;
  for (int i = lane; i < window; i += @LANES@) {
@LOAD@
    @ACCUMULATE@
  }
@JOIN@
  if (lane == 0) {
    const Value element = @RESULT@;
@STORE@
  }
}
)cuda";

Result<elements::Lowering> lower_adaptive(const ops::GraphIndex &index,
                                          const elements::Region &region,
                                          const elements::Configuration &configuration,
                                          const std::string &prefix) {
  const model::Node &anchor = index.node(region.anchor);
  const model::Shape &in = index.node(anchor.inputs.front()).type().shape;
  const model::Shape &out = anchor.type().shape;
  const auto threads = elements::setting_of(configuration, "threads", 32, 1024);
  const auto lanes = elements::setting_of(configuration, "lanes", 1, 32);
  for (const auto &setting : {threads, lanes})
    if (!setting)
      return std::unexpected(setting.error());
  if ((*lanes != 1 && *lanes != 32) || *threads % 32 != 0)
    return fail("an adaptive pool takes 1 or 32 lanes a window, and whole warps");

  const elements::Index at = elements::unflatten("output", out);
  std::string bounds, position = "i";
  elements::Index from(out.size()), element(out.size());
  std::string window = "1";
  for (std::size_t d = 0; d < out.size(); ++d) {
    const std::string name = std::to_string(d);
    bounds += "  const int o" + name + " = (int)(" + at[d] + ");\n";
    element[d] = "o" + name;
    if (in[d] == out[d]) {
      from[d] = "o" + name;
      continue;
    }
    const std::string sizes_in = std::to_string(in[d]), sizes_out = std::to_string(out[d]);
    bounds += "  const int b" + name + " = (int)((long long)o" + name + " * " + sizes_in + " / " +
              sizes_out + ");\n  const int n" + name + " = (int)(((long long)(o" + name +
              " + 1) * " + sizes_in + " + " + std::to_string(out[d] - 1) + ") / " + sizes_out +
              ") - b" + name + ";\n";
    window += " * n" + name;
  }
  bounds += "  const int window = " + window + ";";
  std::string inside;
  for (std::size_t d = out.size(); d-- > 0;)
    if (in[d] != out[d]) {
      const std::string name = std::to_string(d);
      inside += "    const int p" + name + " = b" + name + " + " + position + " % n" + name + ";\n";
      from[d] = "p" + name;
      position = "(" + position + " / n" + name + ")";
    }

  elements::ElementWriter writer(index, region);
  const bool maximum = is_maximum(anchor);
  std::string before;
  const std::string value = writer.load(anchor.inputs.front(), from, before);
  const std::string take = "sum = value > sum || value != value ? value : sum;";
  elements::Substitutions places{
      {"NAME", prefix + "_pool"},
      {"PARAMETERS", writer.parameters()},
      {"TYPE", writer.compute_type(region.anchor)},
      {"THREADS", std::to_string(*threads)},
      {"LANES", std::to_string(*lanes)},
      {"OUTPUTS", std::to_string(model::elements_of(out)) + "LL"},
      {"BOUNDS", bounds},
      {"INITIAL", maximum ? lowest(writer.compute_type(region.anchor)) : "Value(0)"},
      {"LOAD", inside + before + "    const Value value = (Value)(" + value + ");"},
      {"ACCUMULATE", maximum ? take : "sum += value;"},
      {"RESULT", maximum ? "sum" : "sum / Value(window)"},
      {"STORE", writer.store(element, "element")}};
  if (*lanes == 32)
    places["JOIN"] = "#pragma unroll\n  for (int distance = 16; distance > 0; distance /= 2) {\n"
                     "    const Value value = __shfl_xor_sync(0xffffffffu, sum, distance);\n    " +
                     places["ACCUMULATE"] + "\n  }";
  else
    places["JOIN"] = "";
  elements::Lowering lowering;
  lowering.source = elements::fill_places(kAdaptiveKernel, places);
  lowering.steps.push_back(elements::launch_of(
      prefix + "_pool", elements::ceil_divide(model::elements_of(out), *threads / *lanes), *threads,
      writer.arguments()));
  return lowering;
}

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  return is_adaptive(index.node(region.anchor))
             ? lower_adaptive(index, region, configuration, prefix)
             : lower_plain(index, region, configuration, device, prefix);
}

} // namespace

const elements::Family kPoolFamily{"pool", claims, true, true, configurations, lower};

} // namespace warpwright::families::windows
