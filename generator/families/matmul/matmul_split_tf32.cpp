// FP32-accurate product on tensor cores in one kernel; see device/mma_sync.cuh.
//
// Plain operands are copied to shared memory asynchronously; fused operands are
// computed on the way there. A cluster of blocks may share a tile, each block with
// a part of k, which fills the device for small results without another launch.
#include "arch/generations.h"
#include "generator/elements/tensor_text.h"
#include "generator/families/matmul/matmul_text.h"

namespace warpwright::families::matmul {
namespace {

constexpr std::string_view kSync =
#include "generator/device/mma_sync.cuh.inc"
    ;
constexpr std::string_view kSumAgain =
#include "generator/device/sum_again.cuh.inc"
    ;

/// Tiles by GPU generation. A generation whose tensor cores have their own instructions adds a line.
constexpr elements::TensorText kTiles[] = {
    {arch::TensorCores::Mma, "warpwright_tf32", kSync},
    {arch::TensorCores::Wgmma, "warpwright_tf32", kSync},
    {arch::TensorCores::Tcgen05, "warpwright_tf32", kSync},
};

constexpr std::string_view kKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @CLUSTER_TEXT@ @NAME@(@PARAMETERS@) {
@TILE@
  const int piece = split * @CLUSTER@ + rank;
  int first_k = piece * @PART@, last_k = first_k + @PART@ < @DEPTH@ ? first_k + @PART@ : @DEPTH@;
@FILL@
@LOADS@
@STORE@
  @SPACE@::Tile<@SHAPE@>::run<@WIDE@>(tile_m * @TILE_M@, @ROWS@, tile_n * @TILE_N@, @COLUMNS@,
                                              first_k, last_k, @SOURCE_A@, @SOURCE_B@, store,
      [&](const int in_a, const int in_b, float (&values)[@WIDE@]) {
@LOAD_ONE_A@@LOAD_ONE_B@
    const int from = split * @CLUSTER@ * @PART@, to = from + @CLUSTER@ * @PART@;
    warpwright_again::add(from, to < @DEPTH@ ? to : @DEPTH@,
        [&](const int k) { float one[1]; load_a(in_a, k, one); return one[0]; },
        [&](const int k, const int j) { float one[1]; load_b(in_b + j, k, one); return one[0]; }, values);
  });
}
)cuda";

} // namespace

Result<elements::Lowering>
lower_matmul_split_tf32(const ops::GraphIndex &index, const elements::Region &region,
                        const MatmulProblem &problem, const elements::Configuration &configuration,
                        const elements::DeviceFacts &device, const std::string &prefix) {
  const elements::TensorText *tile = elements::text_for(kTiles, device.tensor_cores);
  if (!tile)
    return fail("split TF32 needs the tensor cores of compute capability 8.0");
  if (problem.type != "float" || problem.dtype != model::Dtype::Float32)
    return fail("split TF32 multiplies float32 only");
  auto settings = elements::settings_of(configuration, {{"tile_m", 16, 256},
                                                        {"tile_n", 16, 256},
                                                        {"tile_k", 8, 128},
                                                        {"warp_m", 16, 128},
                                                        {"warp_n", 8, 128},
                                                        {"stages", 2, 8},
                                                        {"splits", 1, 1024},
                                                        {"cluster", 1, 8}});
  if (!settings)
    return std::unexpected(settings.error());
  std::map<std::string, int> &at = *settings;
  MatmulText text(index, region, problem);
  const int tile_m = at["tile_m"], tile_n = at["tile_n"], tile_k = at["tile_k"];
  const int cluster = at["cluster"];
  if (cluster > 1 && !device.clusters)
    return fail("clusters need compute capability 9.0");
  if (tile_m % at["warp_m"] != 0 || tile_n % at["warp_n"] != 0 || at["warp_m"] % 16 != 0 ||
      at["warp_n"] % 8 != 0 || tile_k % 8 != 0)
    return fail("a tile of " + std::to_string(tile_m) + " x " + std::to_string(tile_n) +
                " does not divide among its warps");
  const int threads = tile_m / at["warp_m"] * (tile_n / at["warp_n"]) * 32;
  const auto panel = [&](int rows, bool along_k) {
    return along_k ? rows * (tile_k + 4) : tile_k * (rows + 8);
  };
  const int stage = panel(tile_m, problem.a.along_k) + panel(tile_n, problem.b.along_k);
  const int shared = 4 * std::max(at["stages"] * stage, tile_m * (tile_n + 8));
  if (threads > 1024 || shared > device.shared_bytes_block)
    return fail("the tiles need more threads or shared memory than a block has");
  const std::int64_t part =
      elements::ceil_divide(elements::ceil_divide(problem.depth, at["splits"] * cluster), tile_k) *
      tile_k;
  const int splits = static_cast<int>(elements::ceil_divide(problem.depth, part * cluster));

  // Kind of load of an operand: async copies of `vector` neighbors, or -`wide` neighbors computed together.
  const auto vector_of = [&](bool is_a) {
    const MatmulOperand &operand = is_a ? problem.a : problem.b;
    return operand.plain && operand.plain->dtype == model::Dtype::Float32 ? operand.plain->vector
                                                                          : -text.load_wide(is_a);
  };
  const auto source_of = [&](bool is_a) {
    return vector_of(is_a) > 0 ? text.address(is_a) : text.load(is_a, text.load_wide(is_a));
  };
  const int vector_a = vector_of(true), vector_b = vector_of(false);
  SplitProduct product(text, prefix, splits);
  product.lowering.source +=
      "\n" + std::string(tile->source) + "\n" + std::string(kSumAgain) +
      elements::fill_places(
          kKernel, {{"THREADS", std::to_string(threads)},
                    {"CLUSTER_TEXT",
                     cluster > 1 ? "__cluster_dims__(" + std::to_string(cluster) + ", 1, 1)" : ""},
                    {"CLUSTER", std::to_string(cluster)},
                    {"NAME", prefix + "_multiply"},
                    {"SPACE", std::string(tile->space)},
                    {"PARAMETERS", product.parameters()},
                    {"TILE", tile_text(problem, tile_m, tile_n, splits, cluster)},
                    {"PART", std::to_string(part)},
                    {"DEPTH", std::to_string(problem.depth)},
                    {"FILL", fill_text(index, region, problem, tile_m, tile_n)},
                    {"LOADS", source_of(true) + source_of(false)},
                    {"STORE", text.store(text.store_wide(), splits)},
                    {"LOAD_ONE_A", text.load(true, 1)},
                    {"LOAD_ONE_B", text.load(false, 1)},
                    {"SHAPE", arguments_text({tile_m, tile_n, tile_k, at["warp_m"], at["warp_n"],
                                              at["stages"], problem.a.along_k, vector_a,
                                              problem.b.along_k, vector_b, cluster})},
                    {"WIDE", std::to_string(text.store_wide())},
                    {"TILE_M", std::to_string(tile_m)},
                    {"TILE_N", std::to_string(tile_n)},
                    {"ROWS", std::to_string(problem.rows)},
                    {"COLUMNS", std::to_string(problem.columns)},
                    {"SOURCE_A", vector_a > 0 ? "address_a" : "load_a"},
                    {"SOURCE_B", vector_b > 0 ? "address_b" : "load_b"}});
  product.add_multiply(tile_blocks(problem, tile_m, tile_n, splits, cluster), threads, shared);
  return product.finish();
}

} // namespace warpwright::families::matmul
