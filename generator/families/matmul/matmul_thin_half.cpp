// Product of a 16-bit matrix with up to 16 16-bit vectors, bound by one read of the matrix; see
// device/thin_half.cuh.
//
// The matrix is the right operand of a linear layer with few rows of input, or a left operand with few
// columns to multiply. Both operands lie along k, with rows at multiples of 16 bytes. There are no
// tensor maps, so any GPU from compute capability 8.0 on has it.
#include "generator/families/matmul/matmul_text.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>

namespace warpwright::families::matmul {
namespace {

constexpr int kMostVectors = 16;  // more vectors cost more than the matrix: matmul_half.cpp
constexpr std::int64_t kUnit = 8; ///< 16-bit elements in 16 bytes
constexpr std::int64_t kTileRows = 16;

constexpr const char *kDevice = "\n"
#include "generator/device/half_mma.cuh.inc"
                                "\n"
#include "generator/device/thin_half.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
struct @PREFIX@_product {
  static constexpr int @SIZES@;
  static constexpr bool kBFloat16 = @BFLOAT16@;
};
__device__ __forceinline__ void @PREFIX@_body(const int block, const int blocks, @PARAMETERS@) {
  using Half = unsigned short;
  warpwright_thin_half::Product<@PREFIX@_product>::run<@WIDE@>(block, blocks,
      [&]([[maybe_unused]] const int which, [[maybe_unused]] const int batch, const int row) {
        return @MATRIX@;
      },
      [&]([[maybe_unused]] const int batch, [[maybe_unused]] const int row) { return @VECTOR@; },
      [&]([[maybe_unused]] const int batch, const int @PLACE@, const float (&values)[@WIDE@],
          [[maybe_unused]] const float (&others)[@WIDE@]) {
@STORE@      });
}
)cuda";

constexpr std::string_view kMultiply =
    R"cuda(extern "C" __global__ void __launch_bounds__(@THREADS@) @PREFIX@_multiply(@PARAMETERS@) {
  @PREFIX@_body(blockIdx.x, gridDim.x, @NAMES@);
}
)cuda";

bool is_readable(const MatmulOperand &operand) {
  if (!operand.plain || !ops::is_half(operand.plain->dtype))
    return false;
  const PlainOperand &plain = *operand.plain;
  return plain.depth == 1 && plain.offset % kUnit == 0 && plain.rows % kUnit == 0 &&
         std::ranges::all_of(plain.batches,
                             [](std::int64_t stride) { return stride % kUnit == 0; });
}

/// Text of the address of a row.
std::string row_text(const MatmulProblem &problem, const MatmulOperand &operand) {
  const PlainOperand &plain = *operand.plain;
  return "reinterpret_cast<const Half *>(in" + std::to_string(plain.input) + ") + (" +
         std::to_string(plain.offset) + "ll + row * " + std::to_string(plain.rows) + "ll" +
         elements::strided_terms(elements::unflatten("batch", problem.batch), plain.batches) + ")";
}

} // namespace

bool is_thin_half(const MatmulProblem &problem) {
  return std::min(problem.rows, problem.columns) <= kMostVectors && problem.type == "float" &&
         problem.depth % kUnit == 0 && is_readable(problem.a) && is_readable(problem.b) &&
         problem.a.plain->dtype == problem.b.plain->dtype && sums_well(problem) &&
         (!problem.twin_b || (is_readable(*problem.twin_b) && problem.rows <= problem.columns &&
                              problem.twin_b->plain->dtype == problem.b.plain->dtype));
}

Result<elements::Lowering>
lower_matmul_thin_half(const ops::GraphIndex &index, const elements::Region &region,
                       const MatmulProblem &problem, const elements::Configuration &configuration,
                       const elements::DeviceFacts &device, const std::string &prefix) {
  if (!is_thin_half(problem))
    return fail(
        "neither operand is a few 16-bit vectors that lie along k at multiples of 16 bytes");
  if (device.inline_ptx && !device.has_tensor_cores())
    return fail("this device has no tensor cores");
  const auto settings = elements::settings_of(configuration, {{"warps", 1, 16}, {"unroll", 1, 8}});
  if (!settings)
    return std::unexpected(settings.error());
  const int warps = settings->at("warps"), unroll = settings->at("unroll");
  const bool right_is_matrix = problem.rows <= problem.columns, twins = problem.twin_b.has_value();
  const MatmulOperand &matrix = right_is_matrix ? problem.b : problem.a,
                      &vector = right_is_matrix ? problem.a : problem.b;
  const std::int64_t rows = right_is_matrix ? problem.columns : problem.rows,
                     vectors = right_is_matrix ? problem.rows : problem.columns;
  const std::int64_t shared = thin_half_shared(problem, warps);
  if (shared > device.shared_bytes_block)
    return fail("the sums of the warps need " + std::to_string(shared) + " bytes of shared memory");

  MatmulText text(index, region, problem);
  const int wide = right_is_matrix ? text.store_wide() : 1;
  if (twins) {
    std::vector<std::string> lanes;
    for (int i = 0; i < wide; ++i)
      lanes.push_back("others[" + std::to_string(i) + "]");
    text.writer().bind(problem.twin, lanes);
  }
  SplitProduct product(text, prefix, 1);
  const std::string parameters = product.parameters();
  const std::string of_matrix = row_text(problem, matrix);
  const std::int64_t blocks = elements::ceil_divide(rows, kTileRows) * problem.batches();
  const elements::Substitutions places{
      {"PREFIX", prefix},
      {"SIZES", elements::constants_text({{"kRows", rows},
                                          {"kVectors", vectors},
                                          {"kDepth", problem.depth},
                                          {"kBatches", problem.batches()},
                                          {"kWarps", warps},
                                          {"kUnroll", unroll},
                                          {"kTwins", twins}})},
      {"BFLOAT16", matrix.plain->dtype == model::Dtype::BFloat16 ? "true" : "false"},
      {"PARAMETERS", parameters},
      {"WIDE", std::to_string(wide)},
      {"MATRIX", twins ? "which == 0 ? " + of_matrix + " : " + row_text(problem, *problem.twin_b)
                       : of_matrix},
      {"VECTOR", row_text(problem, vector)},
      {"PLACE", right_is_matrix ? "column, const int row" : "row, const int column"},
      {"STORE", text.store_body(wide, 1)}};
  product.lowering.source += kDevice + elements::fill_places(kKernel, places);
  elements::KernelBody body{prefix + "_body", elements::parameters_in(parameters), {}};
  body.kernel_text =
      elements::fill_places(kMultiply, {{"PREFIX", prefix},
                                        {"THREADS", std::to_string(warps * 32)},
                                        {"PARAMETERS", parameters},
                                        {"NAMES", elements::names_of(body.parameters)}});
  product.lowering.source += body.kernel_text;
  product.lowering.bodies.emplace(prefix + "_multiply", std::move(body));
  product.add_multiply(blocks, warps * 32, shared);
  return product.finish();
}

} // namespace warpwright::families::matmul
