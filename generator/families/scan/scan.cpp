// cumsum and cumprod over any dimension.
//
// Reverse, exclusive and masked scans need nothing here: flip, pad, slice, cat and mul are views and pointwise nodes, which fusion
// writes in place where elements are loaded and stored.
//
// A block owns one row, or a piece of it, and walks it in chunks that stay in registers: each thread scans `items` neighbours, a warp
// joins its threads by shuffles, the block joins its warps, and the running total enters the next chunk. Rows along the last dimension
// pass through shared memory so that memory sees neighbouring threads on neighbouring elements; for other dimensions the threads of
// a row of the block stand on neighbouring columns. With too few rows to fill the device a row is split: one kernel takes the pieces'
// totals, the next starts each piece from the totals before it (reduce then scan). Every sum is formed in a fixed order, so results
// repeat bit for bit; a look-back between running blocks would not.
// Leaves out: logcumsumexp, cummax, cummin. Thread: pure functions.
#include "generator/families/scan/scan.h"
#include "generator/elements/window_text.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

struct ScanShape {
  model::Shape shape;
  std::size_t dim = 0;
  std::int64_t outer = 1, length = 1, inner = 1;
};

ScanShape scan_shape(const model::Node &anchor) {
  ScanShape scan;
  scan.shape = anchor.type().shape;
  scan.dim = static_cast<std::size_t>(integer_attribute(anchor, "dim", 0));
  scan.outer = elements_between(scan.shape, 0, scan.dim);
  scan.length = scan.shape[scan.dim];
  scan.inner = elements_between(scan.shape, scan.dim + 1, scan.shape.size());
  return scan;
}

bool claims(const GraphIndex &, const model::Node &anchor) {
  if (anchor.op != op::cumsum && anchor.op != op::cumprod)
    return false;
  const model::Shape &shape = anchor.type().shape;
  return !shape.empty() && model::elements_of(shape) > 0 &&
         integer_attribute(anchor, "dim", 0) < static_cast<std::int64_t>(shape.size()) &&
         elements_between(shape, 0, shape.size()) < (std::int64_t{1} << 40);
}

/// Into how many pieces a row goes, so that about two blocks stand on each multiprocessor.
int pieces_for(std::int64_t blocks, std::int64_t chunks, const DeviceFacts &device) {
  const std::int64_t wanted =
      ceil_divide(2 * device.multiprocessors, std::max<std::int64_t>(blocks, 1));
  return static_cast<int>(std::clamp<std::int64_t>(std::min(wanted, chunks), 1, 1024));
}

std::vector<Configuration> configurations(const GraphIndex &index, const Region &region,
                                          const DeviceFacts &device) {
  const ScanShape scan = scan_shape(index.node(region.anchor));
  std::vector<Configuration> list;
  const int vector = scan.inner == 1 ? ElementWriter(index, region).vector_width() : 1;
  const auto add = [&](int columns, int threads, int items, int pieces, int vector = 1) {
    Configuration configuration{{"columns", columns},
                                {"threads", threads},
                                {"items", items},
                                {"pieces", pieces},
                                {"vector", vector}};
    if (std::ranges::find(list, configuration) == list.end())
      list.push_back(configuration);
  };
  if (scan.inner == 1) {
    const auto row_threads = [&](int items) {
      return static_cast<int>(
          std::max<std::int64_t>(32, power_of_two_for(ceil_divide(scan.length, items), 1024)));
    };
    const bool few = scan.outer < device.multiprocessors;
    const auto split = [&](int threads, int items) {
      return few ? pieces_for(scan.outer, ceil_divide(scan.length, threads * items), device) : 1;
    };
    // The largest chunk was the quickest for few rows and, by less, for many (bench/results/h200/windows.md).
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
  // Wide strips where they fill the device, else narrow ones: pieces of a column cost more than narrow strips.
  const bool fills = scan.outer * ceil_divide(scan.inner, 64) >= device.multiprocessors;
  const std::initializer_list<int> strips =
      fills ? std::initializer_list<int>{64, 32, 16} : std::initializer_list<int>{16, 32, 64};
  const std::initializer_list<std::pair<int, int>> wide = {
      {512, 8}, {256, 8}, {256, 16}, {1024, 4}};
  const std::initializer_list<std::pair<int, int>> narrow = {
      {256, 16}, {256, 8}, {512, 8}, {1024, 4}};
  for (const int columns : strips) {
    const int width = static_cast<int>(power_of_two_for(scan.inner, columns));
    const std::int64_t blocks = scan.outer * ceil_divide(scan.inner, width);
    for (const auto &[threads, items] : fills ? wide : narrow) {
      const std::int64_t lines = std::min<std::int64_t>(
          threads / width, power_of_two_for(ceil_divide(scan.length, items), 1024));
      const std::int64_t chunks = ceil_divide(scan.length, lines * items);
      add(width, static_cast<int>(lines * width), items, pieces_for(blocks, chunks, device));
    }
  }
  return list;
}

constexpr std::string_view kTiles = R"cuda(
  __shared__ Value tiles[kWarps][32 * (kItems + 1)];
  Value *const tile = tiles[threadIdx.x / 32];)cuda";

constexpr std::string_view kRowKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  typedef @TYPE@ Value;
  constexpr int kItems = @ITEMS@, kWarps = @THREADS@ / 32, kChunk = @THREADS@ * @ITEMS@;
@TILES@
  __shared__ Value totals[2][kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = blockIdx.x / @PIECES@, piece = blockIdx.x % @PIECES@;
  const int begin = piece * @PIECE@;
  const int end = begin + @PIECE@ < @LENGTH@ ? begin + @PIECE@ : @LENGTH@;
  Value carry = @IDENTITY@;
@CARRY_IN@
  int phase = 0;
  for (int start = begin; start < end; start += kChunk, phase ^= 1) {
    const int base = start + warp * 32 * kItems;
@SCAN_WARP@
    if (lane == 31)
      totals[phase][warp] = inclusive;
    __syncthreads();
    Value below = carry;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      if (w == warp)
        below = carry;
      carry = carry @OPERATOR@ totals[phase][w];
    }
@FINISH@
  }
@TOTAL_OUT@
}
)cuda";

/// Elements pass through shared memory; `inclusive` is the scan over the lanes' totals, `prefix` what lies below the lane.
constexpr std::string_view kScanWarp = R"cuda(
    Value loaded[kItems];
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int k = base + j * 32 + lane;
      loaded[j] = @IDENTITY@;
      if (k < end) {
@LOAD@
      }
    }
#pragma unroll
    for (int j = 0; j < kItems; ++j)
      tile[j * 32 + lane + (j * 32 + lane) / kItems] = loaded[j];
    __syncwarp();
    Value scanned[kItems];
#pragma unroll
    for (int j = 0; j < kItems; ++j)
      scanned[j] = tile[lane * (kItems + 1) + j];
#pragma unroll
    for (int j = 1; j < kItems; ++j)
      scanned[j] = scanned[j - 1] @OPERATOR@ scanned[j];
    Value inclusive = scanned[kItems - 1];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Value lower = __shfl_up_sync(0xffffffffu, inclusive, distance);
      if (lane >= distance)
        inclusive = lower @OPERATOR@ inclusive;
    }
    Value prefix = __shfl_up_sync(0xffffffffu, inclusive, 1);
    if (lane == 0)
      prefix = @IDENTITY@;)cuda";

/// Each lane holds whole vectors; groups of 32 vectors follow one another.
constexpr std::string_view kScanWarpVectors = R"cuda(
    Value scanned[kItems];
#pragma unroll
    for (int j = 0; j < kItems / kVector; ++j) {
      const int k = base / kVector + j * 32 + lane;
#pragma unroll
      for (int v = 0; v < kVector; ++v)
        scanned[j * kVector + v] = @IDENTITY@;
      if (k * kVector < end) {
@LOAD@
      }
    }
    Value prefixes[kItems / kVector], inclusive = @IDENTITY@;
#pragma unroll
    for (int j = 0; j < kItems / kVector; ++j) {
#pragma unroll
      for (int v = 1; v < kVector; ++v)
        scanned[j * kVector + v] = scanned[j * kVector + v - 1] @OPERATOR@ scanned[j * kVector + v];
      Value group = scanned[j * kVector + kVector - 1];
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const Value lower = __shfl_up_sync(0xffffffffu, group, distance);
        if (lane >= distance)
          group = lower @OPERATOR@ group;
      }
      const Value lower = __shfl_up_sync(0xffffffffu, group, 1);
      prefixes[j] = lane == 0 ? inclusive : inclusive @OPERATOR@ lower;
      inclusive = inclusive @OPERATOR@ __shfl_sync(0xffffffffu, group, 31);
    })cuda";

constexpr std::string_view kRowStoreVectors = R"cuda(
#pragma unroll
    for (int j = 0; j < kItems / kVector; ++j) {
      const int k = base / kVector + j * 32 + lane;
      if (k * kVector < end) {
        const Value prefix = below @OPERATOR@ prefixes[j];
        const Value *const scan = scanned + j * kVector;
@STORE@
      }
    })cuda";

constexpr std::string_view kRowStore = R"cuda(
    prefix = below @OPERATOR@ prefix;
#pragma unroll
    for (int j = 0; j < kItems; ++j)
      tile[lane * (kItems + 1) + j] = prefix @OPERATOR@ scanned[j];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int k = base + j * 32 + lane;
      if (k < end) {
        const Value element = tile[j * 32 + lane + (j * 32 + lane) / kItems];
@STORE@
      }
    }
    __syncwarp();)cuda";

constexpr std::string_view kColumnKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  typedef @TYPE@ Value;
  constexpr int kItems = @ITEMS@, kColumns = @COLUMNS@, kLines = @THREADS@ / @COLUMNS@;
  __shared__ Value totals[2][kLines][kColumns];
  const int x = threadIdx.x % kColumns, line = threadIdx.x / kColumns;
  const int piece = blockIdx.x % @PIECES@;
  const int column = (blockIdx.x / @PIECES@) % @COLUMN_BLOCKS@ * kColumns + x;
  const int row = blockIdx.x / @PIECES@ / @COLUMN_BLOCKS@;
  const bool inside = column < @INNER@;
  const int begin = piece * @PIECE@;
  const int end = begin + @PIECE@ < @LENGTH@ ? begin + @PIECE@ : @LENGTH@;
  Value carry = @IDENTITY@;
@CARRY_IN@
  int phase = 0;
  for (int start = begin; start < end; start += kLines * kItems, phase ^= 1) {
    const int base = start + line * kItems;
    Value scanned[kItems];
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int k = base + j;
      scanned[j] = @IDENTITY@;
      if (inside && k < end) {
@LOAD@
      }
    }
#pragma unroll
    for (int j = 1; j < kItems; ++j)
      scanned[j] = scanned[j - 1] @OPERATOR@ scanned[j];
    totals[phase][line][x] = scanned[kItems - 1];
    __syncthreads();
    Value prefix = carry;
#pragma unroll 8
    for (int l = 0; l < kLines; ++l) {
      if (l == line)
        prefix = carry;
      carry = carry @OPERATOR@ totals[phase][l][x];
    }
@FINISH@
  }
@TOTAL_OUT@
}
)cuda";

constexpr std::string_view kColumnStore = R"cuda(
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int k = base + j;
      if (inside && k < end) {
        const Value element = prefix @OPERATOR@ scanned[j];
@STORE@
      }
    })cuda";

/// Kernels of one region: the scan, and before it the pieces' totals where rows are split.
Result<Lowering> lower(const GraphIndex &index, const Region &region,
                       const Configuration &configuration, const DeviceFacts &,
                       const std::string &prefix) {
  const model::Node &anchor = index.node(region.anchor);
  const ScanShape scan = scan_shape(anchor);
  const auto columns = setting_of(configuration, "columns", 1, 64);
  const auto threads = setting_of(configuration, "threads", 1, 1024);
  const auto items = setting_of(configuration, "items", 1, 32);
  const auto pieces = setting_of(configuration, "pieces", 1, 1024);
  const auto vector = setting_of(configuration, "vector", 1, 8);
  for (const auto &setting : {columns, threads, items, pieces, vector})
    if (!setting)
      return std::unexpected(setting.error());
  const bool rows = scan.inner == 1;
  if (rows ? *threads % 32 != 0 : *threads % *columns != 0)
    return fail("a scan cannot use " + std::to_string(*threads) + " threads there");
  if (*vector > 1 && (!rows || *items % *vector != 0 || scan.length % *vector != 0))
    return fail("a scan cannot move vectors of " + std::to_string(*vector) + " there");

  ElementWriter writer(index, region);
  const std::string type = writer.compute_type(region.anchor);
  const std::int64_t column_blocks = rows ? 1 : ceil_divide(scan.inner, *columns);
  const std::int64_t piece = ceil_divide(ceil_divide(scan.length, *pieces), *vector) * *vector;
  Index element = unflatten("row", model::Shape(scan.shape.begin(), scan.shape.begin() + scan.dim));
  element.push_back(*vector > 1 ? std::to_string(*vector) + " * k" : "k");
  const Index after =
      unflatten("column", model::Shape(scan.shape.begin() + scan.dim + 1, scan.shape.end()));
  element.insert(element.end(), after.begin(), after.end());

  Places places{{"THREADS", std::to_string(*threads)},
                {"ITEMS", std::to_string(*items)},
                {"COLUMNS", std::to_string(*columns)},
                {"COLUMN_BLOCKS", std::to_string(column_blocks)},
                {"PIECES", std::to_string(*pieces)},
                {"PIECE", std::to_string(piece)},
                {"LENGTH", std::to_string(scan.length)},
                {"INNER", std::to_string(scan.inner)},
                {"TYPE", type},
                {"VECTOR", std::to_string(*vector)},
                {"OPERATOR", anchor.op == op::cumsum ? "+" : "*"},
                {"IDENTITY", anchor.op == op::cumsum ? "Value(0)" : "Value(1)"}};
  const std::string scratch = prefix + "_totals";
  const std::vector<std::string> temporaries =
      *pieces > 1 ? std::vector{scratch} : std::vector<std::string>{};
  places["PARAMETERS"] =
      parameters_with(writer, *pieces > 1 ? std::vector{type + " *__restrict__ piece_totals"}
                                          : std::vector<std::string>{});
  const std::string slot =
      rows ? "(long long)row * @PIECES@ + " : "((long long)row * @INNER@ + column) * @PIECES@ + ";
  const std::string guard = rows ? "" : "inside && ";

  Lowering lowering;
  const auto write_kernel = [&](const std::string &name, bool totals_only) {
    const std::string held = rows && *vector == 1 ? "loaded" : "scanned";
    std::vector<Index> lanes(*vector, element);
    std::vector<std::string> values;
    for (int lane = 0; lane < *vector; ++lane) {
      if (lane > 0)
        lanes[lane][scan.dim] += " + " + std::to_string(lane);
      values.push_back("prefix " + places["OPERATOR"] + " scan[" + std::to_string(lane) + "]");
    }
    ElementWriter body(index, region);
    body.bound("row", scan.outer);
    body.bound("column", scan.inner);
    body.bound("k", ceil_divide(scan.length, *vector));
    std::string load;
    const std::vector<std::string> loaded = body.load(anchor.inputs.front(), lanes, load);
    for (int lane = 0; lane < *vector; ++lane)
      load += "        " + held + "[j * " + std::to_string(*vector) + " + " + std::to_string(lane) +
              "] = (Value)(" + loaded[lane] + ");\n";
    places["NAME"] = name;
    places["LOAD"] = load;
    places["STORE"] = *vector > 1 ? body.store(lanes, values) : body.store(element, "element");
    places["TILES"] = *vector > 1 ? "  constexpr int kVector = " + std::to_string(*vector) + ";"
                                  : std::string(kTiles);
    places["SCAN_WARP"] = fill_places(*vector > 1 ? kScanWarpVectors : kScanWarp, places);
    places["CARRY_IN"] = totals_only || *pieces == 1
                             ? ""
                             : fill_places("  for (int p = 0; " + guard +
                                               "p < piece; ++p)\n    carry = carry "
                                               "@OPERATOR@ piece_totals[" +
                                               slot + "p];",
                                           places);
    places["FINISH"] = totals_only ? ""
                                   : fill_places(!rows         ? kColumnStore
                                                 : *vector > 1 ? kRowStoreVectors
                                                               : kRowStore,
                                                 places);
    places["TOTAL_OUT"] =
        totals_only ? fill_places(std::string("  if (") +
                                      (rows ? "threadIdx.x == 0" : "inside && line == 0") +
                                      ")\n    piece_totals[" + slot + "piece] = carry;",
                                  places)
                    : "";
    lowering.source += fill_places(rows ? kRowKernel : kColumnKernel, places);
    lowering.steps.push_back(launch_of(name, scan.outer * column_blocks * *pieces, *threads,
                                       arguments_with(writer, temporaries)));
  };
  if (*pieces > 1) {
    lowering.temporaries.push_back({scratch,
                                    model::dtype_from_c_type(type).value_or(anchor.type().dtype),
                                    Expression(scan.outer * scan.inner * *pieces)});
    write_kernel(prefix + "_piece_totals", true);
  }
  write_kernel(prefix + "_scan", false);
  return lowering;
}

} // namespace

const Family kScanFamily{"scan", claims, true, true, configurations, lower};

} // namespace warpwright::generator
