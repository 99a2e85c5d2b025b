// The scan family: cumsum, cumprod, cummax, cummin and logcumsumexp over any dimension.
//
// Reverse, exclusive and masked scans need no code here: flip, pad, slice, cat and mul are views and pointwise nodes,
// which fusion writes into the loads and stores.
//
// A block owns a row or a piece of it and processes it in chunks that stay in registers. Each thread scans `items`
// neighbors, a warp combines its threads by shuffles, the block combines its warps, and the running total enters the
// next chunk. Rows along the last dimension pass through shared memory, so that adjacent threads access adjacent
// memory; short rows share a warp; for other dimensions the threads of a row process adjacent columns. If too few rows
// would fill the device, a row is split: one kernel computes the totals of the pieces, the next starts each piece from
// the totals before it (reduce then scan). Each sum has a fixed order, so results repeat bit for bit; a look-back
// between running blocks would not repeat.
#include "generator/families/scan/scan.h"
#include "generator/elements/window_text.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

#include <algorithm>

namespace warpwright::families::scan {
namespace {

struct ScanShape {
  model::Shape shape;
  std::size_t dim = 0;
  std::int64_t outer = 1, length = 1, inner = 1;
};

ScanShape scan_shape(const model::Node &anchor) {
  ScanShape scan;
  scan.shape = anchor.type().shape;
  scan.dim = static_cast<std::size_t>(ops::integer_attribute(anchor, "dim", 0));
  scan.outer = elements::elements_between(scan.shape, 0, scan.dim);
  scan.length = scan.shape[scan.dim];
  scan.inner = elements::elements_between(scan.shape, scan.dim + 1, scan.shape.size());
  return scan;
}

/// Returns the device code's name of what joins two parts of a row; null for other ops.
const char *join_of(const model::Node &anchor) {
  constexpr std::pair<std::string_view, const char *> kJoins[] = {{op::cumsum, "Sum"},
                                                                  {op::cumprod, "Product"},
                                                                  {op::cummax, "Maximum"},
                                                                  {op::cummin, "Minimum"},
                                                                  {op::logcumsumexp, "LogSumExp"}};
  const auto found =
      std::ranges::find(kJoins, anchor.op, &std::pair<std::string_view, const char *>::first);
  return found == std::end(kJoins) ? nullptr : found->second;
}

bool claims(const ops::GraphIndex &, const model::Node &anchor) {
  if (!join_of(anchor))
    return false;
  const model::Shape &shape = anchor.type().shape;
  return !shape.empty() && model::elements_of(shape) > 0 &&
         ops::integer_attribute(anchor, "dim", 0) < static_cast<std::int64_t>(shape.size()) &&
         elements::elements_between(shape, 0, shape.size()) < (std::int64_t{1} << 40);
}

/// Number of pieces that a row is split into, so that each multiprocessor gets about two blocks.
int pieces_for(std::int64_t blocks, std::int64_t chunks, const elements::DeviceFacts &device) {
  const std::int64_t wanted =
      elements::ceil_divide(2 * device.multiprocessors, std::max<std::int64_t>(blocks, 1));
  return static_cast<int>(std::clamp<std::int64_t>(std::min(wanted, chunks), 1, 1024));
}

/// Lanes that hold a row of few vectors of `width`; 0 for a longer row.
int group_of(const ScanShape &scan, int width) {
  const std::int64_t vectors = elements::ceil_divide(scan.length, width);
  return vectors <= 32 ? static_cast<int>(elements::power_of_two_for(vectors, 32)) : 0;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  const ScanShape scan = scan_shape(index.node(region.anchor));
  std::vector<elements::Configuration> list;
  const int vector = scan.inner == 1 ? elements::ElementWriter(index, region).vector_width() : 1;
  const auto add = [&](int columns, int threads, int items, int pieces, int vector = 1) {
    elements::Configuration configuration{{"columns", columns},
                                          {"threads", threads},
                                          {"items", items},
                                          {"pieces", pieces},
                                          {"vector", vector}};
    if (std::ranges::find(list, configuration) == list.end())
      list.push_back(configuration);
  };
  if (scan.inner == 1) {
    for (const int width : {vector, 1})
      for (const int threads : {128, 256, 64})
        if (group_of(scan, width) > 0)
          add(1, threads, width, 1, width);
    if (!list.empty())
      return list;
    const auto row_threads = [&](int items) {
      return static_cast<int>(std::max<std::int64_t>(
          32, elements::power_of_two_for(elements::ceil_divide(scan.length, items), 1024)));
    };
    const bool few = scan.outer < device.multiprocessors;
    const auto split = [&](int threads, int items) {
      return few ? pieces_for(scan.outer, elements::ceil_divide(scan.length, threads * items),
                              device)
                 : 1;
    };
    // The largest chunk was fastest for few rows and, by a smaller margin, for many (bench/results/h200/windows.md).
    const std::initializer_list<std::pair<int, int>> many = {{1024, 8}, {512, 8}, {256, 16},
                                                             {128, 8},  {256, 8}, {512, 4}};
    const std::initializer_list<std::pair<int, int>> some = {
        {1024, 8}, {512, 8}, {1024, 4}, {256, 8}, {256, 4}};
    for (const int width : {vector, 1}) {
      for (const auto &[threads, items] : scan.outer >= 4 * device.multiprocessors ? many : some) {
        const int all = std::min(threads, row_threads(items));
        add(1, all, items, split(all, items), std::min(width, items));
      }
      if (few)
        add(1, row_threads(4), 4, 1, std::min(width, 4));
    }
    return list;
  }
  // Wide strips come first if they fill the device, else narrow ones: pieces of a column cost more than narrow strips.
  const bool fills = scan.outer * elements::ceil_divide(scan.inner, 64) >= device.multiprocessors;
  const std::initializer_list<int> strips =
      fills ? std::initializer_list<int>{64, 32, 16} : std::initializer_list<int>{16, 32, 64};
  const std::initializer_list<std::pair<int, int>> wide = {
      {512, 8}, {256, 8}, {256, 16}, {1024, 4}};
  const std::initializer_list<std::pair<int, int>> narrow = {
      {256, 16}, {256, 8}, {512, 8}, {1024, 4}};
  for (const int columns : strips) {
    const int width = static_cast<int>(elements::power_of_two_for(scan.inner, columns));
    const std::int64_t blocks = scan.outer * elements::ceil_divide(scan.inner, width);
    for (const auto &[threads, items] : fills ? wide : narrow) {
      const std::int64_t lines = std::min<std::int64_t>(
          threads / width,
          elements::power_of_two_for(elements::ceil_divide(scan.length, items), 1024));
      const std::int64_t chunks = elements::ceil_divide(scan.length, lines * items);
      add(width, static_cast<int>(lines * width), items, pieces_for(blocks, chunks, device));
    }
  }
  return list;
}

constexpr const char *kDevice = "\n"
#include "generator/device/scan.cuh.inc"
    ;

constexpr std::string_view kConfiguration = R"cuda(
struct @PREFIX@_scan_shape {
  using Value = @TYPE@;
  using Join = warpwright_scan::@JOIN@;
  static constexpr int @SIZES@;
};
)cuda";

constexpr std::string_view kKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  using Value = @TYPE@;
  warpwright_scan::@WALK@<@PREFIX@_scan_shape, warpwright_scan::Pass::@PASS@>(@TOTALS@,
      [&](const int row, const int column, const int k, Value *values) {
@LOAD@      },
      [&](const int row, const int column, const int k, const Value *elements) {
@STORE@      });
}
)cuda";

/// Kernels of one region: the scan, preceded by the totals of the pieces if rows are split.
Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &, const std::string &prefix) {
  const model::Node &anchor = index.node(region.anchor);
  const ScanShape scan = scan_shape(anchor);
  const auto settings = elements::settings_of(configuration, {{"columns", 1, 64},
                                                              {"threads", 1, 1024},
                                                              {"items", 1, 32},
                                                              {"pieces", 1, 1024},
                                                              {"vector", 1, 8}});
  if (!settings)
    return std::unexpected(settings.error());
  const int columns = settings->at("columns"), threads = settings->at("threads"),
            items = settings->at("items"), pieces = settings->at("pieces"),
            vector = settings->at("vector");
  const bool rows = scan.inner == 1;
  if (rows ? threads % 32 != 0 : threads % columns != 0)
    return fail("a scan cannot use " + std::to_string(threads) + " threads there");
  const int group = rows && pieces == 1 && items == vector ? group_of(scan, vector) : 0;
  if (vector > 1 && (!rows || items % vector != 0 || scan.length % vector != 0))
    return fail("a scan cannot move vectors of " + std::to_string(vector) + " there");

  elements::ElementWriter writer(index, region);
  const std::string type = writer.compute_type(region.anchor);
  const std::string scratch = prefix + "_totals";
  std::vector<std::string> more, temporaries;
  if (pieces > 1) {
    more.push_back(type + " *__restrict__ piece_totals");
    temporaries.push_back(scratch);
  }
  const std::int64_t column_blocks = rows ? 1 : elements::ceil_divide(scan.inner, columns);
  const std::int64_t piece =
      elements::ceil_divide(elements::ceil_divide(scan.length, pieces), vector) * vector;
  elements::Substitutions places{
      {"PREFIX", prefix},
      {"TYPE", type},
      {"JOIN", join_of(anchor)},
      {"SIZES", elements::constants_text({{"kThreads", threads},
                                          {"kItems", items},
                                          {"kVector", vector},
                                          {"kLength", scan.length},
                                          {"kPiece", piece},
                                          {"kPieces", pieces},
                                          {"kColumns", columns},
                                          {"kInner", scan.inner},
                                          {"kColumnBlocks", column_blocks},
                                          {"kGroup", group},
                                          {"kRows", scan.outer}})},
      {"THREADS", std::to_string(threads)},
      {"WALK", group > 0 ? "short_rows"
               : rows    ? "rows"
                         : "columns"},
      {"TOTALS", pieces > 1 ? "piece_totals" : "nullptr"},
      {"PARAMETERS", elements::parameters_with(writer, more)}};
  elements::Index element =
      elements::unflatten("row", model::Shape(scan.shape.begin(), scan.shape.begin() + scan.dim));
  element.push_back(vector > 1 ? std::to_string(vector) + " * k" : "k");
  const elements::Index after = elements::unflatten(
      "column", model::Shape(scan.shape.begin() + scan.dim + 1, scan.shape.end()));
  element.insert(element.end(), after.begin(), after.end());
  std::vector<elements::Index> lanes(vector, element);
  std::vector<std::string> elements;
  for (int lane = 0; lane < vector; ++lane) {
    if (lane > 0)
      lanes[lane][scan.dim] += " + " + std::to_string(lane);
    elements.push_back("elements[" + std::to_string(lane) + "]");
  }
  writer.bound("row", scan.outer);
  writer.bound("column", scan.inner);
  writer.bound("k", elements::ceil_divide(scan.length, vector));
  const std::vector<std::string> loaded = writer.load(anchor.inputs.front(), lanes, places["LOAD"]);
  for (int lane = 0; lane < vector; ++lane)
    places["LOAD"] += "values[" + std::to_string(lane) + "] = (Value)(" + loaded[lane] + ");\n";
  places["STORE"] = writer.store(lanes, elements);

  const std::int64_t blocks = group > 0 ? elements::ceil_divide(scan.outer, threads / group)
                                        : scan.outer * column_blocks * pieces;
  elements::Lowering lowering;
  lowering.source = kDevice + elements::fill_places(kConfiguration, places);
  const auto add_pass = [&](const std::string &pass, const std::string &name) {
    places["PASS"] = pass;
    places["NAME"] = name;
    lowering.source += elements::fill_places(kKernel, places);
    lowering.steps.push_back(
        elements::launch_of(name, blocks, threads, elements::arguments_with(writer, temporaries)));
  };
  if (pieces > 1) {
    lowering.temporaries.push_back({scratch,
                                    model::dtype_from_c_type(type).value_or(anchor.type().dtype),
                                    symbolic::Expression(scan.outer * scan.inner * pieces)});
    add_pass("Totals", prefix + "_piece_totals");
  }
  add_pass("Scan", prefix + "_scan");
  return lowering;
}

} // namespace

const elements::Family kScanFamily{"scan", claims, true, true, configurations, lower};

} // namespace warpwright::families::scan
