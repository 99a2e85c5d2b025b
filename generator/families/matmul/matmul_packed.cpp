// FP32-accurate product from float16 parts on Hopper's tensor cores, and that of float16 and bfloat16; see device/packed.cuh.
//
// The first kernel reads both operands, with what fusion put before them, and packs them; the second multiplies. With too few tiles to fill the
// device k is split, each part with scales of its own, and a third kernel adds the partial sums in order. Sums that half pairs leave in
// doubt (device/half_pairs.cuh) are added again in FP32 by the second kernel, which therefore also reads the operands. Thread: pure functions.
#include "arch/generations.h"
#include "generator/families/matmul/matmul_text.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

constexpr int kTileM = 128, kStripRows = 8, kStagingBytes = 8 * 16 * 40 * 4;

constexpr const char *kDevice =
    "\n"
#include "generator/device/half_pairs.cuh.inc"
    "\n"
#include "generator/device/packed.cuh.inc"
    "\n"
#include "generator/device/sum_again.cuh.inc"
    ;

constexpr std::string_view kKernels = R"cuda(
extern "C" __global__ void __launch_bounds__(512, 2) @PREFIX@_pack(@PACK_PARAMETERS@) {
  const bool is_a = blockIdx.x < @BLOCKS_A@;
  const int block = is_a ? blockIdx.x : blockIdx.x - @BLOCKS_A@;
  const int strips = is_a ? @ROWS_A@ / 8 : @ROWS_B@ / 8;
  const int strip = block % strips, split = block / strips % @SPLITS@, batch = block / strips / @SPLITS@;
  const int first_chunk = split * @PART@;
  const int chunks = first_chunk + @PART@ < @CHUNKS@ ? @PART@ : @CHUNKS@ - first_chunk;
  if (is_a) {
@LOAD_A@
    warpwright_split::@PACK@@ALONG_A@, @WIDE_A@>(load_a, @ROWS@, @DEPTH@, strip * 8, first_chunk, chunks, @CHUNKS@, 128,
        packed_a + batch * @BATCH_BYTES_A@ll@PACK_SCALES_A@);
  } else {
@LOAD_B@
    const auto load_row = [&](const int row, const int k, float (&values)[@WIDE_B@]) { load_b(row, k, values); };
    warpwright_split::@PACK@@ALONG_B@, @WIDE_B@>(load_row, @COLUMNS@, @DEPTH@, strip * 8, first_chunk, chunks, @CHUNKS@, @TILE_N@,
        packed_b + batch * @BATCH_BYTES_B@ll@PACK_SCALES_B@);
  }
}

extern "C" __global__ void __launch_bounds__(384, 1) @PREFIX@_multiply(@PARAMETERS@) {
  using Tile = warpwright_split::Tile<@SHAPE@>;
  const auto place = [&](const int item) {
@TILE@
    constexpr int kChunk = @CHUNK@;
    int first_k = split * @PART@ * kChunk;
    int last_k = first_k + @PART@ * kChunk < @CHUNKS@ * kChunk ? first_k + @PART@ * kChunk : @CHUNKS@ * kChunk;
@FILL@
    constexpr int kGroup = kChunk * @PROMOTE@; // steps of k that are added at once
    first_k = first_k / kGroup * kGroup;
    last_k = (last_k + kGroup - 1) / kGroup * kGroup;
    warpwright_split::Place here;
    here.a = packed_a + @BATCH_A@ * @BATCH_BYTES_A@ll + (static_cast<long long>(tile_m) * @CHUNKS@ + first_k / kChunk) * Tile::kBytesA;
    here.b = packed_b + @BATCH_B@ * @BATCH_BYTES_B@ll + (static_cast<long long>(tile_n) * @CHUNKS@ + first_k / kChunk) * Tile::kBytesB;
@PLACE_SCALES@
    here.chunks = last_k > first_k ? (last_k - first_k) / kChunk : 0;
    here.first_k = first_k;
    here.last_k = last_k < @DEPTH@ ? last_k : @DEPTH@;
    here.tile_m = tile_m;
    here.tile_n = tile_n;
    here.split = split;
    here.batch = batch;
    return here;
  };
  Tile::run<@WIDE@>(@ITEMS@, place, [&](const warpwright_split::Place &here, const int row, const int column,
                                        const float (&values)[@WIDE@]) {
    [[maybe_unused]] const int batch = here.batch, split = here.split;
@STORE@
    if (here.tile_m * 128 + row < @ROWS@ && here.tile_n * @TILE_N@ + column < @COLUMNS@)
      store(here.tile_m * 128 + row, here.tile_n * @TILE_N@ + column, values);
  }, [&](const warpwright_split::Place &here, const int in_row, const int in_column, float (&values)[@WIDE@]) {
@AGAIN@  });
}
)cuda";

/// Of half pairs: a vector of sums in FP32.
constexpr std::string_view kAgain = R"cuda(    [[maybe_unused]] const int batch = here.batch;
    const int in_a = here.tile_m * 128 + in_row, in_b = here.tile_n * @TILE_N@ + in_column;
    if (in_a >= @ROWS@ || in_b >= @COLUMNS@)
      return;
@LOAD_ONE_A@@LOAD_ONE_B@
    warpwright_again::add(here.first_k, here.last_k,
        [&](const int k) { float one[1]; load_a(in_a, k, one); return one[0]; },
        [&](const int k, const int j) { float one[1]; load_b(in_b + j, k, one); return one[0]; }, values);
)cuda";

} // namespace

Result<Lowering> lower_matmul_packed(const GraphIndex &index, const Region &region,
                                     const MatmulProblem &problem,
                                     const Configuration &configuration, const DeviceFacts &device,
                                     const std::string &prefix) {
  if (device.tensor_cores != arch::TensorCores::Wgmma)
    return fail("split float16 needs the tensor cores of compute capability 9.0");
  const bool split_parts = problem.dtype == model::Dtype::Float32;
  const bool bfloat16 = problem.dtype == model::Dtype::BFloat16;
  const auto dtype_of = [&](const MatmulOperand &operand) {
    return index.node(operand.value).type().dtype;
  };
  if (problem.type != "float" || dtype_of(problem.a) != problem.dtype ||
      dtype_of(problem.b) != problem.dtype)
    return fail("packed products are of float32, float16 or bfloat16");
  const int chunk = split_parts ? 32 : 64; // steps of k in the 128 bytes of a packed row
  std::map<std::string, int> at;
  for (const auto &[name, low, high] : {std::tuple{"tile_n", 64, 256},
                                        {"width", 64, 192},
                                        {"stages", 2, 8},
                                        {"promote", 1, 8},
                                        {"splits", 1, 256}}) {
    auto value = setting_of(configuration, name, low, high);
    if (!value)
      return std::unexpected(value.error());
    at[name] = *value;
  }
  const int tile_n = at["tile_n"], width = at["width"], stages = at["stages"],
            promote = at["promote"];
  const bool known_width = width == 64 || width == 96 || width == 128 || width == 192;
  const int stage_bytes = (kTileM + tile_n) * 128;
  const int shared = 1024 + stages * stage_bytes + kStagingBytes + 256;
  if (!known_width || tile_n % width != 0 || tile_n % kStripRows != 0 || promote > stages ||
      shared > device.shared_bytes_block)
    return fail("a tile of 128 x " + std::to_string(tile_n) + " in " + std::to_string(stages) +
                " stages does not fit");

  MatmulText text(index, region, problem);
  const std::int64_t group = promote; // chunks that are added at once
  const std::int64_t chunks = ceil_divide(ceil_divide(problem.depth, chunk), group) * group;
  const std::int64_t part = ceil_divide(ceil_divide(chunks, at["splits"]), group) * group;
  const int splits = static_cast<int>(ceil_divide(chunks, part));
  const std::int64_t rows_a = ceil_divide(problem.rows, kTileM) * kTileM;
  const std::int64_t rows_b = ceil_divide(problem.columns, tile_n) * tile_n;
  // An operand that is the same for all batches is packed once.
  const auto batches_of = [&](const model::Shape &shape, bool folded) {
    return folded || elements_between(shape, 0, shape.size() - 2) == 1 ? 1 : problem.batches();
  };
  const std::int64_t batches_a = batches_of(problem.a_shape, problem.row_dims.size() > 1);
  const std::int64_t batches_b = batches_of(problem.b_shape, false);
  const std::int64_t blocks_a = rows_a / kStripRows * splits * batches_a;
  const std::int64_t blocks_b = rows_b / kStripRows * splits * batches_b;

  const std::int64_t items = tile_blocks(problem, kTileM, tile_n, splits, 1);
  Lowering lowering;
  std::vector<std::string> packs{prefix + "_packed_a", prefix + "_packed_b"};
  std::vector<std::string> pack_parameters{"unsigned char *__restrict__ packed_a",
                                           "unsigned char *__restrict__ packed_b"};
  lowering.temporaries = {
      {packs[0], model::Dtype::UInt8, Expression(batches_a * rows_a * chunks * 128)},
      {packs[1], model::Dtype::UInt8, Expression(batches_b * rows_b * chunks * 128)}};
  std::string pack_scales_a, pack_scales_b,
      place_scales = "    here.scales_a = here.scales_b = nullptr;";
  if (split_parts) {
    packs.insert(packs.end(), {prefix + "_scales_a", prefix + "_scales_b"});
    pack_parameters.insert(pack_parameters.end(),
                           {"warpwright_split::RowScale *__restrict__ scales_a",
                            "warpwright_split::RowScale *__restrict__ scales_b"});
    constexpr int kWords = 2; // of a RowScale
    lowering.temporaries.push_back(
        {packs[2], model::Dtype::Int32, Expression(kWords * batches_a * splits * rows_a)});
    lowering.temporaries.push_back(
        {packs[3], model::Dtype::Int32, Expression(kWords * batches_b * splits * rows_b)});
    pack_scales_a = ", scales_a + (batch * @SPLITS@ + split) * @ROWS_A@";
    pack_scales_b = ", scales_b + (batch * @SPLITS@ + split) * @ROWS_B@";
    place_scales =
        "    here.scales_a = scales_a + (@BATCH_A@ * @SPLITS@ + split) * @ROWS_A@ + tile_m * 128;\n"
        "    here.scales_b = scales_b + (@BATCH_B@ * @SPLITS@ + split) * @ROWS_B@ + tile_n * "
        "@TILE_N@;";
  }
  std::vector<std::string> temporaries = packs, more;
  for (const std::string &parameter : pack_parameters)
    more.push_back("const " + parameter);
  const std::string partial = prefix + "_partial";
  if (splits > 1) {
    temporaries.push_back(partial);
    more.push_back("float *__restrict__ partial");
    lowering.temporaries.push_back(text.partial(partial, splits));
  }
  // Lanes of a load are neighbours in k; across k a lane takes one row.
  const int wide_a = problem.a.along_k ? text.load_wide(true) : 1;
  const int wide_b = problem.b.along_k ? text.load_wide(false) : 1;
  const auto flag = [](bool value) { return value ? std::string("true") : std::string("false"); };
  // Places may hold places, so that they are filled twice.
  const Places places = {
      {"PREFIX", prefix},
      {"PACK_PARAMETERS", parameters_with(text.writer(), pack_parameters)},
      {"PACK", split_parts ? "pack<" : "pack_plain<" + flag(bfloat16) + ", "},
      {"PACK_SCALES_A", pack_scales_a},
      {"PACK_SCALES_B", pack_scales_b},
      {"PLACE_SCALES", place_scales},
      {"CHUNK", std::to_string(chunk)},
      {"PARAMETERS", parameters_with(text.writer(), more)},
      {"BLOCKS_A", std::to_string(blocks_a)},
      {"ROWS_A", std::to_string(rows_a)},
      {"ROWS_B", std::to_string(rows_b)},
      {"SPLITS", std::to_string(splits)},
      {"PART", std::to_string(part)},
      {"CHUNKS", std::to_string(chunks)},
      {"AGAIN", split_parts ? std::string(kAgain) : std::string()},
      {"LOAD_ONE_A", text.load(true, 1)},
      {"LOAD_ONE_B", text.load(false, 1)},
      {"LOAD_A", text.load(true, wide_a)},
      {"LOAD_B", text.load(false, wide_b)},
      {"ALONG_A", flag(problem.a.along_k)},
      {"ALONG_B", flag(problem.b.along_k)},
      {"WIDE_A", std::to_string(wide_a)},
      {"WIDE_B", std::to_string(wide_b)},
      {"ROWS", std::to_string(problem.rows)},
      {"COLUMNS", std::to_string(problem.columns)},
      {"DEPTH", std::to_string(problem.depth)},
      {"TILE_N", std::to_string(tile_n)},
      {"BATCH_BYTES_A", std::to_string(rows_a * chunks * 128)},
      {"BATCH_BYTES_B", std::to_string(rows_b * chunks * 128)},
      {"BATCH_A", batches_a == 1 ? "0" : "batch"},
      {"BATCH_B", batches_b == 1 ? "0" : "batch"},
      {"TILE", tile_text(problem, kTileM, tile_n, splits, 1, "item")},
      {"FILL", fill_text(index, region, problem, kTileM, tile_n)},
      {"PROMOTE", std::to_string(promote)},
      {"SHAPE", std::string("warpwright_split::Element::") +
                    (split_parts ? "Split, "
                     : bfloat16  ? "BFloat16, "
                                 : "Float16, ") +
                    std::to_string(tile_n) + ", " + std::to_string(width) + ", " + std::to_string(stages) + ", " +
                    std::to_string(promote)},
      {"STORE", splits > 1 ? text.store_partial(text.store_wide()) : text.store(text.store_wide())},
      {"ITEMS", std::to_string(items)},
      {"WIDE", std::to_string(text.store_wide())}};
  lowering.source = kDevice + fill_places(fill_places(kKernels, places), places);
  lowering.steps.push_back(
      launch_of(prefix + "_pack", blocks_a + blocks_b, 512, arguments_with(text.writer(), packs)));
  lowering.steps.push_back(launch_of(prefix + "_multiply",
                                     std::min<std::int64_t>(items, device.multiprocessors), 384,
                                     arguments_with(text.writer(), temporaries), shared));
  if (splits > 1) {
    lowering.source += text.sum_kernel(prefix + "_sum", splits);
    lowering.steps.push_back(text.sum_launch(prefix + "_sum", partial));
  }
  return lowering;
}

} // namespace warpwright::generator
