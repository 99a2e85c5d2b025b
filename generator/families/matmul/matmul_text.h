// What the algorithms of the matmul family share: the functors that their device texts call, and the kernel that adds partial sums.
// Thread: one.
#pragma once

#include "generator/families/matmul/matmul_problem.h"
#include "generator/elements/window_text.h"

namespace warpwright::generator {

/// Which device text multiplies; "algorithm" in a configuration.
enum class MatmulAlgorithm {
  Simt = 0,      ///< tiles on ordinary cores, any type
  Rows = 1,      ///< one operand is so thin that the other one is read once: matrix times vector
  SplitTf32 = 2, ///< float32 in two TF32 parts, mma.sync
  Packed = 3, ///< float32 in two scaled float16 parts, or 16-bit operands, packed beforehand, wgmma
};

class MatmulText {
public:
  /// All must outlive it.
  MatmulText(const GraphIndex &index, const Region &region, const MatmulProblem &problem);

  /// "const auto load_a = [&](int row, int k, float (&values)[4]) { ... };", for `batch` in scope, `row` and `k` being multiples of
  /// `wide` along the operand's fast dimension.
  std::string load(bool is_a, int wide);
  /// Neighbours that load() may give at once: 4 or 1.
  int load_wide(bool is_a) const;
  /// "const auto address_a = [&](int row, int k) { return in0 + ...; };" of a plain operand.
  std::string address(bool is_a) const;
  /// "const auto store = [&](int row, int column, const float (&values)[4]) { ... };" for `batch` in scope.
  std::string store(int wide);
  /// Neighbours of a row that store() may take at once: 4 or 1.
  int store_wide() const;
  /// store() into `partial[split][batch][row][column]`, `split` being in scope.
  std::string store_partial(int wide) const;
  /// "extern "C" __global__ void NAME(parameters, const T *partial) {...}": adds `splits` partial sums in order, and stores; and its launch.
  std::string sum_kernel(const std::string &name, int splits);
  model::LaunchStep sum_launch(const std::string &name, const std::string &partial) const;
  model::Temporary partial(const std::string &name, int splits) const;

  ElementWriter &writer() { return writer_; }
  const MatmulProblem &problem() const { return problem_; }

private:
  const MatmulProblem &problem_;
  ElementWriter writer_;
};

/// Declares tile_m, tile_n, split and batch of an item of the grid, bands of tiles running together; `per_tile` blocks share a tile.
std::string tile_text(const MatmulProblem &problem, int tile_m, int tile_n, int splits,
                      int per_tile, const std::string &item = "blockIdx.x");
/// Blocks of a launch that tile_text() decodes.
std::int64_t tile_blocks(const MatmulProblem &problem, int tile_m, int tile_n, int splits,
                         int per_tile);
/// Statements that narrow [first_k, last_k) by what the node promises of triangular operands and of the part of the result that is needed.
std::string fill_text(const GraphIndex &index, const Region &region, const MatmulProblem &problem,
                      int tile_m, int tile_n);

/// One file an algorithm.
Result<Lowering> lower_matmul_simt(const GraphIndex &, const Region &, const MatmulProblem &,
                                   const Configuration &, const std::string &prefix);
Result<Lowering> lower_matmul_rows(const GraphIndex &, const Region &, const MatmulProblem &,
                                   const Configuration &, const std::string &prefix);
Result<Lowering> lower_matmul_split_tf32(const GraphIndex &, const Region &, const MatmulProblem &,
                                         const Configuration &, const DeviceFacts &,
                                         const std::string &prefix);
Result<Lowering> lower_matmul_packed(const GraphIndex &, const Region &, const MatmulProblem &,
                                     const Configuration &, const DeviceFacts &,
                                     const std::string &prefix);

} // namespace warpwright::generator
