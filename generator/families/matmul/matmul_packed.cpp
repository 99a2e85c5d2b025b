// FP32-accurate product from float16 parts, and float16 and
// bfloat16 products, on Hopper's tensor cores (device/packed.cuh).
//
// The first kernel computes and packs both operands; the second multiplies. If too few tiles
// would fill the device, k is split into parts with separate scales, and a third kernel adds
// the partial sums in order. The second kernel recomputes in FP32 the sums that half pairs
// leave inaccurate (device/half_pairs.cuh), so it reads the unpacked operands too. A result that is
// kept transposed is the product of the exchanged operands.
#include "arch/generations.h"
#include "generator/families/matmul/matmul_text.h"

#include <algorithm>

namespace warpwright::families::matmul {
namespace {

constexpr int kTileM = 128, kStripRows = 8, kStagingBytes = 8 * 16 * 40 * 4;

constexpr const char *kDevice = "\n"
#include "generator/device/half_pairs.cuh.inc"
                                "\n"
#include "generator/device/tensor_copies.cuh.inc"
                                "\n"
#include "generator/device/packed.cuh.inc"
                                "\n"
#include "generator/device/sum_again.cuh.inc"
                                "\n"
#include "generator/device/packed_matrices.cuh.inc"
    ;

constexpr std::string_view kKernels = R"cuda(
struct @PREFIX@_matrices {
  static constexpr auto kElement = warpwright_split::Element::@ELEMENT@;
  static constexpr int @SIZES@;
};
extern "C" __global__ void __launch_bounds__(512, 2) @PREFIX@_pack(@PACK_PARAMETERS@) {
  warpwright_split::Matrices<@PREFIX@_matrices>::pack_both(packed_a, packed_b, @SCALES@,
      [&](const int batch, const int @ROW@, const int k, float (&values)[@WIDE_A@]) {
@LOAD_A@      },
      [&](const int batch, const int @COLUMN@, const int k, float (&values)[@WIDE_B@]) {
@LOAD_B@      });
}
extern "C" __global__ void __launch_bounds__(384, 1) @PREFIX@_multiply(@PARAMETERS@) {
  warpwright_split::Matrices<@PREFIX@_matrices>::multiply<@WIDE@>(packed_a, packed_b, @SCALES@,
      [&](const int @TILES@, int &first_k, int &last_k) {
@FILL@      },
      [&](const int batch, const int split, const int @ROW@, const int @COLUMN@, const float (&values)[@WIDE@]) {
@STORE@      },
      [&](const int batch, const int @ROW@, const int k, float (&values)[1]) {
@LOAD_ONE_A@      },
      [&](const int batch, const int @COLUMN@, const int k, float (&values)[1]) {
@LOAD_ONE_B@      });
}
)cuda";

} // namespace

Result<elements::Lowering>
lower_matmul_packed(const ops::GraphIndex &index, const elements::Region &region,
                    const MatmulProblem &problem, const elements::Configuration &configuration,
                    const elements::DeviceFacts &device, const std::string &prefix) {
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
  auto settings = elements::settings_of(configuration, {{"tile_n", 64, 256},
                                                        {"width", 64, 192},
                                                        {"stages", 2, 8},
                                                        {"promote", 1, 8},
                                                        {"splits", 1, 256}});
  if (!settings)
    return std::unexpected(settings.error());
  std::map<std::string, int> &at = *settings;
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
  const std::int64_t chunks =
      elements::ceil_divide(elements::ceil_divide(problem.depth, chunk), group) * group;
  const std::int64_t part =
      elements::ceil_divide(elements::ceil_divide(chunks, at["splits"]), group) * group;
  const int splits = static_cast<int>(elements::ceil_divide(chunks, part));
  const bool swapped = problem.store_down >= 4 && splits == 1;
  const MatmulOperand &a = swapped ? problem.b : problem.a, &b = swapped ? problem.a : problem.b;
  const std::int64_t rows = swapped ? problem.columns : problem.rows, columns = swapped ? problem.rows : problem.columns;
  const std::int64_t rows_a = elements::ceil_divide(rows, kTileM) * kTileM;
  const std::int64_t rows_b = elements::ceil_divide(columns, tile_n) * tile_n;
  // An operand that is the same for all batches is packed once.
  const auto batches_of = [&](const model::Shape &shape, bool folded) {
    return folded || elements::elements_between(shape, 0, shape.size() - 2) == 1
               ? 1
               : problem.batches();
  };
  std::int64_t batches_a = batches_of(problem.a_shape, problem.row_dims.size() > 1), batches_b = batches_of(problem.b_shape, false);
  if (swapped)
    std::swap(batches_a, batches_b);
  const std::int64_t blocks_a = rows_a / kStripRows * splits * batches_a;
  const std::int64_t blocks_b = rows_b / kStripRows * splits * batches_b;

  SplitProduct product(text, prefix, splits);
  std::vector<std::string> packs, pack_parameters, multiply_parameters;
  const auto add_pack = [&](const std::string &name, const std::string &type, model::Dtype dtype,
                            std::int64_t elements) {
    packs.push_back(prefix + "_" + name);
    pack_parameters.push_back(type + " *__restrict__ " + name);
    multiply_parameters.push_back("const " + pack_parameters.back());
    product.lowering.temporaries.push_back({packs.back(), dtype, symbolic::Expression(elements)});
  };
  add_pack("packed_a", "unsigned char", model::Dtype::UInt8, batches_a * rows_a * chunks * 128);
  add_pack("packed_b", "unsigned char", model::Dtype::UInt8, batches_b * rows_b * chunks * 128);
  if (split_parts) {
    constexpr int kWords = 2; // of a RowScale
    const std::string scale = "warpwright_split::RowScale";
    add_pack("scales_a", scale, model::Dtype::Int32, kWords * batches_a * splits * rows_a);
    add_pack("scales_b", scale, model::Dtype::Int32, kWords * batches_b * splits * rows_b);
  }
  // The lanes of a load are neighbors in k; if k is the slow dimension, a lane takes one row.
  const int wide_a = a.along_k ? text.load_wide(!swapped) : 1;
  const int wide_b = b.along_k ? text.load_wide(swapped) : 1;
  const int wide = swapped ? 4 : text.store_wide();
  const elements::Substitutions places = {
      {"PREFIX", prefix},
      {"ELEMENT", split_parts ? "Split"
                  : bfloat16  ? "BFloat16"
                              : "Float16"},
      {"SIZES", elements::constants_text({{"kTileN", tile_n},
                                          {"kWidth", width},
                                          {"kStages", stages},
                                          {"kPromote", promote},
                                          {"kRows", rows},
                                          {"kColumns", columns},
                                          {"kDepth", problem.depth},
                                          {"kBatches", problem.batches()},
                                          {"kSplits", splits},
                                          {"kPart", part},
                                          {"kAlongA", a.along_k},
                                          {"kWideA", wide_a},
                                          {"kAlongB", b.along_k},
                                          {"kWideB", wide_b},
                                          {"kSharedA", batches_a == 1},
                                          {"kSharedB", batches_b == 1}})},
      {"PACK_PARAMETERS", elements::parameters_with(text.writer(), pack_parameters)},
      {"PARAMETERS", product.parameters(multiply_parameters)},
      {"SCALES", split_parts ? "scales_a, scales_b" : "nullptr, nullptr"},
      {"WIDE_A", std::to_string(wide_a)},
      {"WIDE_B", std::to_string(wide_b)},
      {"ROW", swapped ? "column" : "row"},
      {"COLUMN", swapped ? "row" : "column"},
      {"TILES", swapped ? "tile_n, const int tile_m" : "tile_m, const int tile_n"},
      {"WIDE", std::to_string(wide)},
      {"LOAD_A", text.load_body(!swapped, wide_a)},
      {"LOAD_B", text.load_body(swapped, wide_b)},
      {"LOAD_ONE_A", split_parts ? text.load_body(!swapped, 1) : std::string()},
      {"LOAD_ONE_B", split_parts ? text.load_body(swapped, 1) : std::string()},
      {"FILL", fill_text(index, region, problem, swapped ? tile_n : kTileM, swapped ? kTileM : tile_n)},
      {"STORE", text.store_body(wide, splits, swapped)}};
  product.lowering.source += kDevice + elements::fill_places(kKernels, places);
  product.lowering.steps.push_back(elements::launch_of(
      prefix + "_pack", blocks_a + blocks_b, 512, elements::arguments_with(text.writer(), packs)));
  const std::int64_t items = tile_blocks(problem, swapped ? tile_n : kTileM, swapped ? kTileM : tile_n, splits, 1);
  product.add_multiply(std::min<std::int64_t>(items, device.multiprocessors), 384, shared, packs);
  return product.finish();
}

} // namespace warpwright::families::matmul
