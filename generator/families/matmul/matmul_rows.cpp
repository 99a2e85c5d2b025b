// Product of a matrix with a vector or a few vectors, bound by one read of the wide operand; see device/thin.cuh.
//
// The thin operand has at most kMostThin rows (if it is on the left) or columns (on the right). Each of them costs a
// register for each row that a thread owns.
#include "generator/families/matmul/matmul_text.h"

namespace warpwright::families::matmul {
namespace {

constexpr int kMostThin = 16;

constexpr const char *kDevice = "\n"
#include "generator/device/thin.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @NAME@(@PARAMETERS@) {
  const int strip = blockIdx.x % @STRIPS@;
  const int split = blockIdx.x / @STRIPS@ % @SPLITS@;
  const int batch = blockIdx.x / @STRIPS@ / @SPLITS@;
  const int first_k = split * @PART@, last_k = first_k + @PART@ < @DEPTH@ ? first_k + @PART@ : @DEPTH@;
@LOADS@
@STORE@
  warpwright_thin::@CALL@(@WIDE_ROWS@, strip * @ROWS_A_BLOCK@, first_k, last_k, @LOAD_WIDE@, @LOAD_THIN@,
      [&](int wide_row, int thin_row, @TYPE@ value) {
        const @TYPE@ values[1] = {value};
        store(@TARGET@, values);
      });
}
)cuda";

} // namespace

Result<elements::Lowering> lower_matmul_rows(const ops::GraphIndex &index,
                                             const elements::Region &region,
                                             const MatmulProblem &problem,
                                             const elements::Configuration &configuration,
                                             const std::string &prefix) {
  MatmulText text(index, region, problem);
  const bool a_is_wide = problem.rows >= problem.columns;
  const std::int64_t wide_rows = a_is_wide ? problem.rows : problem.columns;
  const std::int64_t thin_rows = a_is_wide ? problem.columns : problem.rows;
  if (thin_rows > kMostThin)
    return fail("neither operand of the matmul is thin: " + std::to_string(thin_rows) +
                " is over " + std::to_string(kMostThin));
  const auto settings = elements::settings_of(
      configuration, {{"warps", 1, 32}, {"rows", 1, 8}, {"share", 1, 32}, {"splits", 1, 1024}});
  if (!settings)
    return std::unexpected(settings.error());
  const int warps = settings->at("warps"), rows = settings->at("rows"),
            share = settings->at("share");
  if (warps % share != 0)
    return fail("warps that share rows must divide the block's warps");
  const MatmulOperand &wide = a_is_wide ? problem.a : problem.b;
  const MatmulOperand &thin = a_is_wide ? problem.b : problem.a;
  const int lanes = text.load_wide(a_is_wide);
  const int thin_lanes =
      wide.along_k && thin.along_k && lanes == 4 ? text.load_wide(!a_is_wide) : 1;
  const std::int64_t part =
      elements::ceil_divide(elements::ceil_divide(problem.depth, settings->at("splits")), 4) * 4;
  const int splits = static_cast<int>(elements::ceil_divide(problem.depth, part));
  const std::int64_t rows_a_block = wide.along_k ? warps / share * rows : 32 * lanes;
  const std::int64_t strips = elements::ceil_divide(wide_rows, rows_a_block);
  const std::int64_t element = problem.type == "double" || problem.type == "long long" ? 8 : 4;
  if (!wide.along_k && warps * thin_rows * lanes * 32 * element > 48 * 1024)
    return fail("the sums of the warps need more than 48 KiB of shared memory");
  if (wide.along_k && rows * thin_rows > 64)
    return fail("the sums of a warp's rows need too many registers");

  const std::string call =
      wide.along_k ? "rows_along_k<" + problem.type + ", " +
                         arguments_text({thin_rows, rows, warps, share, lanes, thin_lanes}) + ">"
                   : "rows_across_k<" + problem.type + ", " +
                         arguments_text({thin_rows, warps, lanes}) + ">";
  SplitProduct product(text, prefix, splits);
  product.lowering.source +=
      kDevice +
      elements::fill_places(
          kKernel, {{"THREADS", std::to_string(warps * 32)},
                    {"NAME", prefix + "_multiply"},
                    {"PARAMETERS", product.parameters()},
                    {"STRIPS", std::to_string(strips)},
                    {"SPLITS", std::to_string(splits)},
                    {"PART", std::to_string(part)},
                    {"DEPTH", std::to_string(problem.depth)},
                    {"LOADS", text.load(a_is_wide, lanes) + text.load(!a_is_wide, thin_lanes)},
                    {"STORE", text.store(1, splits)},
                    {"CALL", call},
                    {"WIDE_ROWS", std::to_string(wide_rows)},
                    {"ROWS_A_BLOCK", std::to_string(rows_a_block)},
                    {"LOAD_WIDE", a_is_wide ? "load_a" : "load_b"},
                    {"LOAD_THIN", a_is_wide ? "load_b" : "load_a"},
                    {"TYPE", problem.type},
                    {"TARGET", a_is_wide ? "wide_row, thin_row" : "thin_row, wide_row"}});
  product.add_multiply(strips * splits * problem.batches(), warps * 32);
  return product.finish();
}

} // namespace warpwright::families::matmul
