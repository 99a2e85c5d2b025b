// Text of C = A * B in FP32 on the ordinary cores: register tiles over double-buffered
// shared-memory tiles.
//
// Loads are vectors where pointers and row lengths are aligned and guarded scalars elsewhere, so all
// sizes and alignments are allowed. No TF32 is used, and sums over k keep the naive loop's order.
#pragma once

#include "generator/text/source/render.h"

#include <string>

namespace warpwright::templates {

/// Tile sizes: `m` x `n` of C for a block, `thread_m` x `thread_n` of C for a thread, steps of `k`.
/// Each thread must load whole float4s of both operands, thread tiles must be multiples of 4, and two
/// tiles of each operand must fit in 48 KB of static shared memory.
struct GemmShape {
  int m = 128, n = 128, k = 16, thread_m = 8, thread_n = 8;
  int threads() const { return (m / thread_m) * (n / thread_n); }
};

/// The user's expressions and names that are spliced into the body, expressions in parentheses.
struct GemmTask {
  std::string a, b, c;                      ///< pointers
  std::string rows, cols, depth;            ///< M, N, K
  std::string lda, ldb, ldc;                ///< row strides of the stored matrices, in elements
  bool a_transposed = false;                ///< A[k * lda + m] instead of A[m * lda + k]
  bool b_transposed = false;                ///< B[n * ldb + k] instead of B[k * ldb + n]
  std::string row_name, col_name, sum_name; ///< the user's names in `epilogue`
  std::string index_type = "int";
  std::string epilogue; ///< the user's statements that store one element, first line not indented
  bool plain_store = false; ///< `epilogue` is just C[row * ldc + col] = sum
};

/// Body for a one-dimensional block of shape.threads() in a grid of ceil(N / shape.n) by
/// ceil(M / shape.m), two spaces a level.
std::string render_gemm(const GemmTask &task, const GemmShape &shape,
                        const std::set<std::string> &taken);

/// Bindings for the matrices, their extents, and the user's names.
source::Bindings matrix_bindings(const GemmTask &task);

} // namespace warpwright::templates
