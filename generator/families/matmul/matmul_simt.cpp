// Matrix product on ordinary cores, for any type, layout and device; see device/tile_simt.cuh.
//
// If too few tiles would fill the device, k is split and a second
// kernel adds the partial sums in order, so results repeat.
#include "generator/families/matmul/matmul_text.h"

namespace warpwright::families::matmul {
namespace {

constexpr const char *kDevice = "\n"
#include "generator/device/tile_simt.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
@TILE@
  int first_k = split * @PART@, last_k = first_k + @PART@ < @DEPTH@ ? first_k + @PART@ : @DEPTH@;
@FILL@
@LOADS@
@STORE@
  warpwright_simt::Tile<@SHAPE@>::run<@WIDE@>(tile_m * @TILE_M@, @ROWS@, tile_n * @TILE_N@, @COLUMNS@,
                                              first_k, last_k, load_a, load_b, store);
}
)cuda";

} // namespace

Result<elements::Lowering> lower_matmul_simt(const ops::GraphIndex &index,
                                             const elements::Region &region,
                                             const MatmulProblem &problem,
                                             const elements::Configuration &configuration,
                                             const std::string &prefix) {
  auto settings = elements::settings_of(configuration, {{"tile_m", 16, 256},
                                                        {"tile_n", 32, 256},
                                                        {"tile_k", 4, 64},
                                                        {"thread_m", 4, 16},
                                                        {"thread_n", 4, 16},
                                                        {"splits", 1, 1024}});
  if (!settings)
    return std::unexpected(settings.error());
  std::map<std::string, int> &at = *settings;
  MatmulText text(index, region, problem);
  const int tile_m = at["tile_m"], tile_n = at["tile_n"], tile_k = at["tile_k"];
  const int wide_a = text.load_wide(true), wide_b = text.load_wide(false);
  const bool divides = at["thread_m"] % 4 == 0 && at["thread_n"] % 4 == 0 &&
                       tile_m % (at["thread_m"] * 4) == 0 && tile_n % (at["thread_n"] * 8) == 0;
  const int threads = divides ? tile_m / at["thread_m"] * (tile_n / at["thread_n"]) : 0;
  if (!divides || threads > 1024 || tile_m * tile_k % (threads * wide_a) != 0 ||
      tile_n * tile_k % (threads * wide_b) != 0 || tile_k % 4 != 0)
    return fail("a tile of " + std::to_string(tile_m) + " x " + std::to_string(tile_n) + " x " +
                std::to_string(tile_k) + " does not divide among its threads");
  const int element = problem.type == "double" || problem.type == "long long" ? 8 : 4;
  if (2 * tile_k * (tile_m + tile_n + 8) * element > 48 * 1024)
    return fail("the tiles need more than 48 KiB of shared memory");
  const std::int64_t part =
      elements::ceil_divide(elements::ceil_divide(problem.depth, at["splits"]), tile_k) * tile_k;
  const int splits = static_cast<int>(elements::ceil_divide(problem.depth, part));

  SplitProduct product(text, prefix, splits);
  product.lowering.source +=
      kDevice +
      elements::fill_places(
          kKernel,
          {{"THREADS", std::to_string(threads)},
           {"NAME", prefix + "_multiply"},
           {"PARAMETERS", product.parameters()},
           {"TILE", tile_text(problem, tile_m, tile_n, splits, 1)},
           {"PART", std::to_string(part)},
           {"DEPTH", std::to_string(problem.depth)},
           {"FILL", fill_text(index, region, problem, tile_m, tile_n)},
           {"LOADS", text.load(true, wide_a) + text.load(false, wide_b)},
           {"STORE", text.store(text.store_wide(), splits)},
           {"SHAPE", problem.type + ", " +
                         arguments_text({tile_m, tile_n, tile_k, at["thread_m"], at["thread_n"],
                                         problem.a.along_k, wide_a, problem.b.along_k, wide_b})},
           {"WIDE", std::to_string(text.store_wide())},
           {"TILE_M", std::to_string(tile_m)},
           {"TILE_N", std::to_string(tile_n)},
           {"ROWS", std::to_string(problem.rows)},
           {"COLUMNS", std::to_string(problem.columns)}});
  product.add_multiply(tile_blocks(problem, tile_m, tile_n, splits, 1), threads);
  return product.finish();
}

} // namespace warpwright::families::matmul
