// The top-k family: the places of the k largest or smallest elements of each row, for k up to 128,
// in the order in which PyTorch gives them. Of equal elements, the one at the lower place comes
// first. The rows are computed in place, so that distances between points need no memory. Omits:
// numbers of 64 bits, dimensions other than the last, and more than 128 elements of a row, for
// which sorting is faster.
#include "generator/families/topk/topk.h"
#include "generator/elements/window_text.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

#include <algorithm>

namespace warpwright::families::topk {
namespace {

constexpr std::int64_t kMostHeld = 128, kMostElements = std::int64_t{1} << 31;

std::int64_t rows_of(const model::Node &anchor) {
  return elements::elements_between(anchor.type().shape, 0, anchor.type().shape.size() - 1);
}

bool claims(const ops::GraphIndex &graph, const model::Node &anchor) {
  if (anchor.op != op::topk)
    return false;
  const model::TensorType &type = graph.node(anchor.inputs[0]).type();
  const auto last = static_cast<std::int64_t>(type.shape.size()) - 1;
  return ops::integer_attribute(anchor, "dim") == last && anchor.type().shape.back() <= kMostHeld &&
         model::size_bytes(type.dtype) <= 4 && type.dtype != model::Dtype::UInt32 &&
         model::elements_of(type.shape) > 0 && model::elements_of(type.shape) < kMostElements;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  const model::Node &anchor = index.node(region.anchor);
  const std::string &read = anchor.inputs[0];
  const std::int64_t rows = rows_of(anchor), length = index.node(read).type().shape.back();
  const int width = elements::ElementWriter(index, region).load_width(read);
  constexpr std::int64_t kWarpsOfProcessor = 32;
  // Enough warps to keep the memory busy, each with several elements a lane.
  const std::int64_t wanted = elements::power_of_two_for(
      elements::ceil_divide(kWarpsOfProcessor * device.multiprocessors, rows), 32);
  const std::int64_t most = elements::power_of_two_for(elements::ceil_divide(length, 32 * 8), 32);
  std::vector<elements::Configuration> list;
  const auto add = [&](std::int64_t warps, int vector, int unroll) {
    warps = std::clamp<std::int64_t>(warps, 1, 32);
    elements::Configuration one{{"warps", static_cast<int>(warps)},
                                {"threads", static_cast<int>(std::max<std::int64_t>(128, 32 * warps))},
                                {"vector", vector},
                                {"unroll", unroll}};
    if (std::ranges::find(list, one) == list.end())
      list.push_back(std::move(one));
  };
  const std::int64_t best = std::min(wanted, most);
  for (const int vector : {std::min(width, 4), 1}) {
    add(best, vector, 2);
    add(best, vector, 4);
    add(2 * best, vector, 2);
    add(best / 2, vector, 4);
  }
  return list;
}

constexpr const char *kDevice = "\n"
#include "generator/device/topk.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
struct @PREFIX@_topk_shape {
  using Element = @TYPE@;
  static constexpr int @SIZES@;
  static constexpr bool kLargest = @LARGEST@, kSorted = @SORTED@;
};
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  using Element = @TYPE@;
  warpwright_topk::TopK<@PREFIX@_topk_shape> top;
  top.run([&](const int row, const int k, Element *values) {
@LOAD@      },
      [&](const int row, const int number, const int place) {
@STORE@      });
}
)cuda";

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &, const std::string &prefix) {
  const model::Node &anchor = index.node(region.anchor);
  const std::string &read = anchor.inputs[0];
  const model::TensorType &type = index.node(read).type();
  const auto settings = elements::settings_of(
      configuration, {{"warps", 1, 32}, {"threads", 32, 1024}, {"vector", 1, 8}, {"unroll", 1, 8}});
  if (!settings)
    return std::unexpected(settings.error());
  const int warps = settings->at("warps"), threads = settings->at("threads"),
            vector = settings->at("vector");
  const std::int64_t rows = rows_of(anchor), length = type.shape.back();
  if (threads % (32 * warps) != 0 || length % vector != 0)
    return fail("rows of " + std::to_string(length) + " elements cannot be read so");

  elements::ElementWriter writer(index, region);
  const std::string element = model::is_floating(type.dtype) ? "float" : "int", name = prefix + "_topk";
  const model::Shape outer(type.shape.begin(), type.shape.end() - 1);
  elements::Substitutions places{
      {"PREFIX", prefix},
      {"NAME", name},
      {"TYPE", element},
      {"SIZES", elements::constants_text({{"kThreads", threads},
                                          {"kWarps", warps},
                                          {"kRows", rows},
                                          {"kLength", length},
                                          {"kCount", anchor.type().shape.back()},
                                          {"kVector", vector},
                                          {"kUnroll", settings->at("unroll")}})},
      {"LARGEST", ops::flag_attribute(anchor, "largest") ? "true" : "false"},
      {"SORTED", ops::flag_attribute(anchor, "sorted") ? "true" : "false"},
      {"THREADS", std::to_string(threads)},
      {"PARAMETERS", writer.parameters()}};
  writer.bound("row", rows);
  writer.bound("k", length / vector);
  writer.bound("number", anchor.type().shape.back());
  std::vector<elements::Index> lanes(vector, elements::unflatten("row", outer));
  for (int lane = 0; lane < vector; ++lane)
    lanes[lane].push_back((vector > 1 ? std::to_string(vector) + " * k" : "k") +
                          (lane > 0 ? " + " + std::to_string(lane) : ""));
  const std::vector<std::string> loaded = writer.load(read, lanes, places["LOAD"]);
  for (int lane = 0; lane < vector; ++lane)
    places["LOAD"] += "values[" + std::to_string(lane) + "] = (Element)(" + loaded[lane] + ");\n";
  elements::Index result = elements::unflatten("row", outer);
  result.push_back("number");
  places["STORE"] = writer.store(result, "(long long)place");

  elements::Lowering lowering;
  lowering.source = kDevice + elements::fill_places(kKernel, places);
  lowering.steps.push_back(elements::launch_of(name, elements::ceil_divide(rows, threads / 32 / warps),
                                               threads, writer.arguments()));
  return lowering;
}

} // namespace

const elements::Family kTopKFamily{"topk", claims, true, true, configurations, lower};

} // namespace warpwright::families::topk
