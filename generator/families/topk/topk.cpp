// The top-k family: the places of the k largest or smallest elements of each row, in the order in
// which PyTorch gives them. Of equal elements, the one at the lower place comes first. Warps hold
// the k largest elements for k up to 128; a network sorts rows of up to 4096 elements for any k
// (configurations with "held"). The rows are computed in place, so that distances between points
// need no memory. Omits: numbers of 64 bits, and dimensions other than the last.
#include "generator/families/topk/topk.h"
#include "generator/elements/window_text.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

#include <algorithm>
#include <bit>

namespace warpwright::families::topk {
namespace {

constexpr std::int64_t kMostHeld = 128, kMostSorted = 4096, kMostElements = std::int64_t{1} << 31;

std::int64_t rows_of(const model::Node &anchor) {
  return elements::elements_between(anchor.type().shape, 0, anchor.type().shape.size() - 1);
}

/// True where a network may sort the rows.
bool may_sort(const ops::GraphIndex &graph, const model::Node &anchor) {
  return ops::flag_attribute(anchor, "sorted") &&
         graph.node(anchor.inputs[0]).type().shape.back() <= kMostSorted;
}

bool claims(const ops::GraphIndex &graph, const model::Node &anchor) {
  if (anchor.op != op::topk)
    return false;
  const model::TensorType &type = graph.node(anchor.inputs[0]).type();
  const auto last = static_cast<std::int64_t>(type.shape.size()) - 1;
  return ops::integer_attribute(anchor, "dim") == last &&
         (anchor.type().shape.back() <= kMostHeld || may_sort(graph, anchor)) &&
         model::size_bytes(type.dtype) <= 4 && type.dtype != model::Dtype::UInt32 &&
         model::elements_of(type.shape) > 0 && model::elements_of(type.shape) < kMostElements;
}

void add_once(std::vector<elements::Configuration> &list, elements::Configuration one) {
  if (std::ranges::find(list, one) == list.end())
    list.push_back(std::move(one));
}

/// Adds the network whose threads hold this many keys each.
void add_sorted(std::vector<elements::Configuration> &list, std::int64_t length, int held,
                int vector) {
  const auto total = static_cast<int>(elements::power_of_two_for(length, kMostSorted));
  held = std::min(held, total);
  const int lanes = total / held;
  add_once(list, {{"held", held},
                  {"lanes", lanes},
                  {"threads", std::max(lanes, 128)},
                  {"vector", std::min(vector, held)}});
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
    add_once(list, {{"warps", static_cast<int>(warps)},
                    {"threads", static_cast<int>(std::max<std::int64_t>(128, 32 * warps))},
                    {"vector", vector},
                    {"unroll", unroll}});
  };
  const std::int64_t best = std::min(wanted, most), count = anchor.type().shape.back();
  const auto add_held = [&] {
    for (const int vector : {std::min(width, 4), 1}) {
      add(best, vector, 2);
      add(best, vector, 4);
      add(2 * best, vector, 2);
      add(best / 2, vector, 4);
    }
  };
  constexpr std::int64_t kFewHeld = 32; // a larger share of the rows is inserted for more of them
  if (count <= kFewHeld)
    add_held();
  if (may_sort(index, anchor))
    for (const int held : {8, 4, 16})
      add_sorted(list, length, held, std::min(width, 4));
  if (count > kFewHeld && count <= kMostHeld)
    add_held();
  return list;
}

constexpr const char *kDevice = "\n"
#include "generator/device/topk.cuh.inc"
    ;
constexpr const char *kSortDevice = "\n"
#include "generator/device/sort.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
struct @PREFIX@_topk_shape {
  using Element = @TYPE@;
  static constexpr int @SIZES@;
  static constexpr bool kLargest = @LARGEST@, kSorted = @SORTED@;
};
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  using Element = @TYPE@;
  warpwright_topk::@TEMPLATE@<@PREFIX@_topk_shape> top;
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
  const bool sorts = configuration.contains("held");
  const auto settings = elements::settings_of(
      configuration,
      sorts ? std::vector<elements::SettingRange>{{"held", 1, 16},
                                                  {"lanes", 1, 1024},
                                                  {"threads", 128, 1024},
                                                  {"vector", 1, 8}}
            : std::vector<elements::SettingRange>{
                  {"warps", 1, 32}, {"threads", 32, 1024}, {"vector", 1, 8}, {"unroll", 1, 8}});
  if (!settings)
    return std::unexpected(settings.error());
  const int threads = settings->at("threads"), vector = settings->at("vector"),
            lanes = sorts ? settings->at("lanes") : 32 * settings->at("warps");
  const std::int64_t rows = rows_of(anchor), length = type.shape.back(),
                     count = anchor.type().shape.back();
  if (threads % lanes != 0 || length % vector != 0)
    return fail("rows of " + std::to_string(length) + " elements cannot be read so");
  std::vector<std::pair<std::string, std::int64_t>> sizes{{"kThreads", threads},
                                                          {"kRows", rows},
                                                          {"kLength", length},
                                                          {"kCount", count},
                                                          {"kVector", vector}};
  if (sorts) {
    const int held = settings->at("held");
    if (!may_sort(index, anchor) || !std::has_single_bit(static_cast<unsigned>(held)) ||
        !std::has_single_bit(static_cast<unsigned>(lanes)) || held % vector != 0 ||
        held * lanes < length || held * threads > kMostSorted)
      return fail("rows of " + std::to_string(length) + " elements cannot be sorted so");
    sizes.insert(sizes.end(), {{"kHeld", held}, {"kLanes", lanes}});
  } else {
    if (count > kMostHeld)
      return fail("warps hold " + std::to_string(kMostHeld) + " elements of a row");
    sizes.insert(sizes.end(), {{"kWarps", lanes / 32}, {"kUnroll", settings->at("unroll")}});
  }

  elements::ElementWriter writer(index, region);
  const std::string element = model::is_floating(type.dtype) ? "float" : "int",
                    name = prefix + "_topk";
  const model::Shape outer(type.shape.begin(), type.shape.end() - 1);
  elements::Substitutions places{
      {"PREFIX", prefix},
      {"NAME", name},
      {"TYPE", element},
      {"TEMPLATE", sorts ? "Sort" : "TopK"},
      {"SIZES", elements::constants_text(sizes)},
      {"LARGEST", ops::flag_attribute(anchor, "largest") ? "true" : "false"},
      {"SORTED", ops::flag_attribute(anchor, "sorted") ? "true" : "false"},
      {"THREADS", std::to_string(threads)},
      {"PARAMETERS", writer.parameters()}};
  writer.bound("row", rows);
  writer.bound("k", length / vector);
  writer.bound("number", count);
  std::vector<elements::Index> parts(vector, elements::unflatten("row", outer));
  for (int lane = 0; lane < vector; ++lane)
    parts[lane].push_back((vector > 1 ? std::to_string(vector) + " * k" : "k") +
                          (lane > 0 ? " + " + std::to_string(lane) : ""));
  const std::vector<std::string> loaded = writer.load(read, parts, places["LOAD"]);
  for (int lane = 0; lane < vector; ++lane)
    places["LOAD"] += "values[" + std::to_string(lane) + "] = (Element)(" + loaded[lane] + ");\n";
  elements::Index result = elements::unflatten("row", outer);
  result.push_back("number");
  places["STORE"] = writer.store(result, "(long long)place");

  elements::Lowering lowering;
  lowering.source =
      std::string(kDevice) + (sorts ? kSortDevice : "") + elements::fill_places(kKernel, places);
  lowering.steps.push_back(elements::launch_of(name, elements::ceil_divide(rows, threads / lanes),
                                               threads, writer.arguments()));
  return lowering;
}

} // namespace

const elements::Family kTopKFamily{"topk", claims, true, true, configurations, lower};

} // namespace warpwright::families::topk
