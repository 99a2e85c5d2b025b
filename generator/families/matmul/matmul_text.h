// Text and settings shared by the algorithms of the matmul family: functors for operands and results, the order of
// tiles, and the kernel that adds partial sums.
#pragma once

#include "generator/elements/window_text.h"
#include "generator/families/matmul/matmul_problem.h"

#include <algorithm>

namespace warpwright::families::matmul {

/// Device code that multiplies; "algorithm" in a configuration.
enum class MatmulAlgorithm {
  Simt = 0,      ///< tiles on ordinary cores, any type
  Rows = 1,      ///< one operand is so thin that the other one is read once: matrix times vector
  SplitTf32 = 2, ///< float32 in two TF32 parts, mma.sync
  Packed = 3, ///< float32 in two scaled float16 parts, or 16-bit operands, packed beforehand, wgmma
  Half = 4,   ///< 16-bit operands straight from memory, wgmma
  ThinHalf = 5, ///< a 16-bit matrix straight from memory and a few vectors, mma.sync
};

class MatmulText {
public:
  /// The arguments must outlive the object.
  MatmulText(const ops::GraphIndex &index, const elements::Region &region,
             const MatmulProblem &problem);

  /// Statements of load(), with `batch`, `row` or `column`, and `k` in scope.
  std::string load_body(bool is_a, int wide);
  /// "const auto load_a = [&](int row, int k, float (&values)[4]) { ... };", with `batch` in scope. The index along the
  /// operand's fast dimension (`row` or `k`) must be a multiple of `wide`.
  std::string load(bool is_a, int wide);
  /// Neighbors that load() can return at once: 4 or 1.
  int load_wide(bool is_a) const;
  /// Address of a plain operand's element: "const auto address_a = [&](int row, int k) { return in0 + ...; };".
  std::string address(bool is_a) const;
  /// Statements of store(), with `batch`, `split`, `row`, `column` and `values` in scope. @param down values are neighbors
  /// in a column
  std::string store_body(int wide, int splits, bool down = false);
  /// "const auto store = [&](int row, int column, const float (&values)[4]) { ... };", with `batch` and `split` in
  /// scope. If `splits` is more than 1, it stores into `partial[split][batch][row][column]`.
  std::string store(int wide, int splits);
  /// Neighbors of a row that store() can take at once: 1, 4, or 8 where `most` is as many.
  int store_wide(int most = 4) const;

  elements::ElementWriter &writer() { return writer_; }
  const MatmulProblem &problem() const { return problem_; }

private:
  const MatmulProblem &problem_;
  elements::ElementWriter writer_;
};

/// A lowering under construction. If k is split, the product goes
/// into a temporary, `partial`, and a last kernel adds its parts.
class SplitProduct {
public:
  SplitProduct(MatmulText &text, const std::string &prefix, int splits);
  /// Parameters of a multiplying kernel: the region's, `more`, and `partial`.
  std::string parameters(std::vector<std::string> more = {}) const;
  /// Appends the launch of PREFIX_multiply with arguments for those parameters.
  void add_multiply(std::int64_t blocks, int threads, std::int64_t shared_bytes = 0,
                    std::vector<std::string> more = {});
  /// Appends the kernel that adds the parts, if there are several, and returns the lowering.
  elements::Lowering finish();

  elements::Lowering lowering;

private:
  MatmulText &text_;
  std::string prefix_, partial_;
  int splits_;
};

/// Declares an item's tile_m, tile_n, split and batch; bands of tiles run together, and `per_tile` blocks share a tile.
std::string tile_text(const MatmulProblem &problem, int tile_m, int tile_n, int splits,
                      int per_tile);
/// Number of blocks of a launch that tile_text() decodes.
std::int64_t tile_blocks(const MatmulProblem &problem, int tile_m, int tile_n, int splits,
                         int per_tile);
/// Statements that narrow [first_k, last_k) by the node's facts:
/// triangular operands, and the part of the result that is used.
std::string fill_text(const ops::GraphIndex &index, const elements::Region &region,
                      const MatmulProblem &problem, int tile_m, int tile_n);
/// Text of template arguments, such as "64, 32, true".
std::string arguments_text(const std::vector<std::int64_t> &arguments);

inline constexpr int kHalfMostStages = 8;
/// Stages along k of the 16-bit product, each a swizzled row of 128 bytes; those of a window end with each tap.
std::int64_t half_chunks(const MatmulProblem &problem);
/// Columns of a result that a warp of the 16-bit product stores at once, of a tile with `width`. It waits for all that it
/// loads besides at once, so there are more where it loads as many elements, and most where the sums are short too.
inline int half_piece(const MatmulProblem &problem, int width) {
  constexpr std::int64_t kShort = 512;
  for (const int piece : {128, 64})
    if (problem.epilogue_reads && width % piece == 0 && (piece == 64 || problem.depth <= kShort))
      return piece;
  return std::min(width, 32);
}
/// Shared memory of a stage of the 16-bit product, and of all but its stages: alignment, staging of results, barriers.
inline std::int64_t elements_of_stage(model::Dtype dtype) {
  return 128 / static_cast<std::int64_t>(model::size_bytes(dtype)); // along k: a swizzled row
}
constexpr int half_stage_bytes(int tile_m, int tile_n) { return (tile_m + tile_n) * 128; }
constexpr int half_other_bytes(int piece) {
  return 1024 + 8 * 16 * (std::max(piece, 32) + 8) * 4 + 256;
}
/// True if tensor maps can describe the operands. They cannot where an operand is computed, or where its rows do not
/// begin at multiples of 16 bytes.
bool can_map(const MatmulProblem &problem);
/// True if tensor cores add up the result well enough: they truncate, 16 products at a time. A float32 result, whose own
/// error is that of as many roundings as products, bears that for short sums.
bool sums_well(const MatmulProblem &problem);

/// True if one 16-bit operand is a few vectors, and both can be read 16 bytes along k at a time.
bool is_thin_half(const MatmulProblem &problem);
/// Bytes of shared memory of lower_matmul_thin_half().
inline std::int64_t thin_half_shared(const MatmulProblem &problem, int warps) {
  const std::int64_t vectors = (std::min(problem.rows, problem.columns) + 7) / 8 * 8;
  return 4 * vectors * warps * (problem.twin_b ? 2 : 1) * (16 + 4);
}

/// Lowerings of the algorithms; each has its own file.
Result<elements::Lowering> lower_matmul_simt(const ops::GraphIndex &, const elements::Region &,
                                             const MatmulProblem &, const elements::Configuration &,
                                             const std::string &prefix);
Result<elements::Lowering> lower_matmul_rows(const ops::GraphIndex &, const elements::Region &,
                                             const MatmulProblem &, const elements::Configuration &,
                                             const std::string &prefix);
Result<elements::Lowering> lower_matmul_split_tf32(const ops::GraphIndex &,
                                                   const elements::Region &, const MatmulProblem &,
                                                   const elements::Configuration &,
                                                   const elements::DeviceFacts &,
                                                   const std::string &prefix);
Result<elements::Lowering> lower_matmul_half(const ops::GraphIndex &, const elements::Region &,
                                             const MatmulProblem &, const elements::Configuration &,
                                             const elements::DeviceFacts &,
                                             const std::string &prefix);
Result<elements::Lowering> lower_matmul_thin_half(const ops::GraphIndex &, const elements::Region &,
                                                  const MatmulProblem &,
                                                  const elements::Configuration &,
                                                  const elements::DeviceFacts &,
                                                  const std::string &prefix);
Result<elements::Lowering> lower_matmul_packed(const ops::GraphIndex &, const elements::Region &,
                                               const MatmulProblem &,
                                               const elements::Configuration &,
                                               const elements::DeviceFacts &,
                                               const std::string &prefix);

} // namespace warpwright::families::matmul
