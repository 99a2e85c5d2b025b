// Product of float16 or bfloat16 operands on Hopper's tensor cores, straight from memory; see device/half_product.cuh.
//
// Both operands must lie in memory as they are multiplied: the bulk copy engine reads them through tensor maps, which
// want multiples of 16 bytes between rows. `swapped` exchanges the operands, so that a left operand of few rows fills
// the instruction's columns and a right operand of many columns its 64 rows.
#include "arch/generations.h"
#include "generator/elements/tensor_map.h"
#include "generator/elements/wgmma_text.h"
#include "generator/families/matmul/implicit_gemm.h"
#include "generator/families/matmul/matmul_text.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>

namespace warpwright::families::matmul {
namespace {

constexpr int kStepK = 64, kGroups = 2, kThreads = 384;

constexpr const char *kDevice = "\n"
#include "generator/device/tensor_copies.cuh.inc"
                                "\n"
#include "generator/device/half_product.cuh.inc"
    ;

/// Most cost of an epilogue, in units of ops::recompute_cost(), whose text stands once for each piece
/// of a tile. On an H200 such text is up to 7% faster for a bias, and up to 5% slower for a gelu,
/// which takes NVRTC twice as long.
constexpr int kMostUnrolled = 9;

constexpr std::string_view kKernel = R"cuda(
struct @PREFIX@_product {
  using Multiply = @PREFIX@_wgmma;
  static constexpr int @SIZES@;
  static constexpr int @WINDOW@;
};
__device__ __forceinline__ void @PREFIX@_body(const int block, const int blocks, @BODY_PARAMETERS@) {
  warpwright_half::Product<@PREFIX@_product>::run<@WIDE@>(block, blocks, map_a, map_b, @MAP_TWIN@,
      [&](const int @TILES@, int &first_k, int &last_k) {
@FILL@      },
      [&](const int batch, const int split, const int @PLACE@, const float (&values)[@WIDE@],
          [[maybe_unused]] const float (&others)[@WIDE@]) {
@STORE@      });
}
)cuda";

constexpr std::string_view kMultiply =
    R"cuda(extern "C" __global__ void __launch_bounds__(384, 1) @PREFIX@_multiply(@PARAMETERS@) {
  @PREFIX@_body(blockIdx.x, gridDim.x, @NAMES@);
}
)cuda";
constexpr std::string_view kMapParameter = "const __grid_constant__ warpwright_tensor::Map ",
                           kMapReference = "const warpwright_tensor::Map &";

std::vector<std::string> map_parameters(std::string_view type, bool twins) {
  std::vector<std::string> result;
  for (const char *name : {"map_a", "map_b", "map_twin"})
    if (twins || result.size() < 2)
      result.push_back(std::string(type) + name);
  return result;
}

/// @param rows of the matrix @param box_rows of a copy
Result<elements::Mapped> mapped(const MatmulProblem &problem, const MatmulOperand &operand,
                                std::int64_t rows, std::int64_t box_rows) {
  if (!operand.plain)
    return fail("an operand is computed");
  const PlainOperand &plain = *operand.plain;
  if (!ops::is_half(plain.dtype))
    return fail("an operand is of no 16-bit type");
  const std::int64_t fast = operand.along_k ? plain.depth : plain.rows,
                     slow = operand.along_k ? plain.rows : plain.depth;
  const elements::Lines lines{.count = operand.along_k ? rows : problem.depth,
                              .length = operand.along_k ? problem.depth : rows,
                              .stride = slow,
                              .offset = plain.offset,
                              .batch = problem.batch,
                              .batch_strides = plain.batches};
  if (fast != 1 && lines.length > 1)
    return fail("an operand's elements are not neighbors");
  return elements::map_of_lines(lines, kStepK, operand.along_k ? box_rows : kStepK);
}

} // namespace

bool sums_well(const MatmulProblem &problem) {
  constexpr std::int64_t kMostDepth = 256;
  return problem.dtype != model::Dtype::Float32 || problem.depth <= kMostDepth;
}

std::int64_t half_chunks(const MatmulProblem &problem) {
  return problem.window ? problem.window->shape.taps() * stages_of_tap(*problem.window)
                        : elements::ceil_divide(problem.depth, kStepK);
}

bool can_map(const MatmulProblem &problem) {
  if (problem.window)
    return true;
  return sums_well(problem) && mapped(problem, problem.a, problem.rows, kStepK) &&
         mapped(problem, problem.b, problem.columns, kStepK) &&
         problem.a.plain->dtype == problem.b.plain->dtype &&
         (!problem.twin_b || (mapped(problem, *problem.twin_b, problem.columns, kStepK) &&
                              problem.twin_b->plain->dtype == problem.b.plain->dtype &&
                              problem.twin_b->along_k == problem.b.along_k));
}

namespace {

/// Both operands, and the second product's, as the copy engine reads them.
struct Operands {
  elements::Mapped a, b;
  std::optional<elements::Mapped> twin;
};

/// @param a, b operands in the order of the instruction @param tile_m, width rows of their tiles
Result<Operands> matrices(const elements::Region &region, const MatmulProblem &problem,
                          const MatmulOperand &a, const MatmulOperand &b, std::int64_t rows,
                          std::int64_t columns, int tile_m, int width) {
  const auto of_region = [&](const MatmulOperand &operand, std::int64_t extent,
                             int box) -> Result<elements::Mapped> {
    elements::Mapped map = TRY(mapped(problem, operand, extent, box));
    map.argument.buffer = region.inputs[static_cast<std::size_t>(operand.plain->input)];
    return map;
  };
  Operands operands{TRY(of_region(a, rows, tile_m)), TRY(of_region(b, columns, width)), {}};
  if (problem.twin_b)
    operands.twin = TRY(of_region(*problem.twin_b, columns, width));
  return operands;
}

} // namespace

Result<elements::Lowering>
lower_matmul_half(const ops::GraphIndex &index, const elements::Region &region,
                  const MatmulProblem &problem, const elements::Configuration &configuration,
                  const elements::DeviceFacts &device, const std::string &prefix) {
  if (device.tensor_cores != arch::TensorCores::Wgmma)
    return fail("16-bit products by tensor maps need the tensor cores of compute capability 9.0");
  if (!problem.window && (!problem.a.plain || !problem.b.plain))
    return fail("an operand is computed, and the copy engine reads memory as it is");
  if (problem.type != "float" ||
      (!problem.window && problem.a.plain->dtype != problem.b.plain->dtype))
    return fail("products by tensor maps are of two float16 or two bfloat16 operands in memory");
  const model::Dtype dtype = problem.window ? problem.dtype : problem.a.plain->dtype;
  const std::int64_t step_k = elements_of_stage(dtype);
  auto settings = elements::settings_of(configuration, {{"group_m", 64, 128},
                                                        {"tile_n", 16, 256},
                                                        {"together", 0, 1},
                                                        {"stages", 3, kHalfMostStages},
                                                        {"swapped", 0, 1},
                                                        {"splits", 1, 256}});
  if (!settings)
    return std::unexpected(settings.error());
  std::map<std::string, int> &at = *settings;
  const int group_m = at["group_m"], tile_n = at["tile_n"], stages = at["stages"];
  const bool swapped = at["swapped"] == 1, together = at["together"] == 1;
  const MatmulOperand &a = swapped ? problem.b : problem.a, &b = swapped ? problem.a : problem.b;
  const std::int64_t rows = swapped ? problem.columns : problem.rows,
                     columns = swapped ? problem.rows : problem.columns;
  const int tile_m = together ? group_m * kGroups : group_m;
  const bool twins = problem.twin_b.has_value();
  const int width = twins ? tile_n / 2 : tile_n; // columns of the result in a tile
  const int piece = half_piece(problem, width);
  const int shared = stages * half_stage_bytes(tile_m, tile_n) + half_other_bytes(piece);
  if (group_m % 64 != 0 || width % (width < 32 ? 16 : 32) != 0 || group_m * tile_n > 64 * 256 ||
      (!b.along_k && width % 64 != 0) || shared > device.shared_bytes_block)
    return fail("a tile of " + std::to_string(tile_m) + " x " + std::to_string(tile_n) + " in " +
                std::to_string(stages) + " stages does not fit");
  if (twins && (swapped || at["splits"] > 1 || problem.twin_b->along_k != b.along_k))
    return fail("two products are not swapped, nor split, and their right operands lie alike");
  if (problem.window && swapped)
    return fail("the positions of a window are the product's rows");
  Operands maps;
  if (problem.window) {
    maps.a.argument = TRY(image_map(index, region, *problem.window, tile_m));
    maps.b.argument = TRY(filter_map(index, region, *problem.window, width));
  } else {
    maps = TRY(matrices(region, problem, a, b, rows, columns, tile_m, width));
  }
  const std::string fill =
      fill_text(index, region, problem, swapped ? width : tile_m, swapped ? tile_m : width);

  MatmulText text(index, region, problem);
  const bool down = problem.store_down >= 4 && at["splits"] == 1;
  const bool across = swapped != down; // what is stored at once lies in a column of the tile
  const int most = at["splits"] == 1 && !across ? 8 : 4;
  const int wide = down ? std::min(most, problem.store_down) : text.store_wide(most);
  std::vector<std::string> twin_lanes;
  for (int i = 0; i < wide; ++i)
    twin_lanes.push_back("others[" + std::to_string(i) + "]");
  if (twins)
    text.writer().bind(problem.twin, twin_lanes);
  const std::int64_t chunks = half_chunks(problem);
  std::vector<std::pair<std::string, std::int64_t>> window{{"kWindow", 0}};
  if (problem.window)
    window = window_constants(*problem.window);
  const std::int64_t part = elements::ceil_divide(chunks, at["splits"]);
  const int splits = static_cast<int>(elements::ceil_divide(chunks, part));
  const std::int64_t depth = problem.window ? chunks * step_k : problem.depth;
  SplitProduct product(text, prefix, splits);
  product.lowering.source +=
      kDevice +
      elements::wgmma_text(prefix + "_wgmma", tile_n, dtype,
                           a.along_k ? elements::Left::AlongK : elements::Left::AlongRows,
                           b.along_k) +
      elements::fill_places(
          kKernel, {{"PREFIX", prefix},
                    {"SIZES", elements::constants_text({{"kGroupM", group_m},
                                                        {"kTileN", tile_n},
                                                        {"kTogether", together},
                                                        {"kStages", stages},
                                                        {"kStepK", step_k},
                                                        {"kPiece", piece},
                                                        {"kUnrolled", problem.epilogue_cost <= kMostUnrolled},
                                                        {"kAcross", across},
                                                        {"kTwins", twins},
                                                        {"kAlongA", a.along_k},
                                                        {"kAlongB", b.along_k},
                                                        {"kRows", rows},
                                                        {"kColumns", columns},
                                                        {"kDepth", depth},
                                                        {"kBatches", problem.batches()},
                                                        {"kSplits", splits},
                                                        {"kPart", part},
                                                        {"kInnerA", maps.a.inner},
                                                        {"kInnerStepA", maps.a.inner_step},
                                                        {"kOuterStepA", maps.a.outer_step},
                                                        {"kInnerB", maps.b.inner},
                                                        {"kInnerStepB", maps.b.inner_step},
                                                        {"kOuterStepB", maps.b.outer_step}})},
                    {"WINDOW", elements::constants_text(window)},
                    {"BODY_PARAMETERS", product.parameters(map_parameters(kMapReference, twins))},
                    {"MAP_TWIN", twins ? "map_twin" : "map_b"},
                    {"TILES", swapped ? "tile_n, const int tile_m" : "tile_m, const int tile_n"},
                    {"FILL", fill},
                    {"PLACE", swapped ? "column, const int row" : "row, const int column"},
                    {"WIDE", std::to_string(wide)},
                    {"STORE", text.store_body(wide, splits, down)}});
  const std::string parameters = product.parameters(map_parameters(kMapParameter, twins));
  elements::KernelBody body{prefix + "_body", elements::parameters_in(parameters), {}};
  body.kernel_text =
      elements::fill_places(kMultiply, {{"PREFIX", prefix},
                                        {"PARAMETERS", parameters},
                                        {"NAMES", elements::names_of(body.parameters)}});
  product.lowering.source += body.kernel_text;
  product.lowering.bodies.emplace(prefix + "_multiply", std::move(body));
  const std::int64_t items = elements::ceil_divide(rows, tile_m) *
                             elements::ceil_divide(columns, width) * splits * problem.batches();
  const std::int64_t blocks = std::min<std::int64_t>(items, device.multiprocessors);
  std::vector<model::BufferArgument> mapped_memory{maps.a.argument, maps.b.argument};
  if (twins)
    mapped_memory.push_back(maps.twin->argument);
  std::vector<std::string> mapped_buffers;
  for (const model::BufferArgument &map : mapped_memory)
    mapped_buffers.push_back(map.buffer);
  product.add_multiply(blocks, kThreads, shared, mapped_buffers);
  auto &arguments = std::get<model::LaunchStep>(product.lowering.steps.back()).arguments;
  const std::size_t first = text.writer().arguments().size();
  std::ranges::copy(mapped_memory, arguments.begin() + static_cast<std::ptrdiff_t>(first));
  return product.finish();
}

} // namespace warpwright::families::matmul
