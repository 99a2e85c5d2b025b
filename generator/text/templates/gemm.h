// C = A * B in FP32 on the ordinary cores: register tiles over double-buffered shared-memory tiles.
//
// Vector loads where pointers and row lengths are aligned, guarded scalar loads elsewhere, so any size and any
// alignment is right. No TF32 and no reassociation beyond the naive loop's own order over k.
// Thread: values, any.
#pragma once

#include "generator/text/source/render.h"

#include <string>

namespace warpwright::generator {

/// A tile of `m` x `n` of C a block, steps of `k`, `thread_m` x `thread_n` of C a thread.
struct GemmShape {
  int m = 128, n = 128, k = 16, thread_m = 8, thread_n = 8;
  int threads() const { return (m / thread_m) * (n / thread_n); }
  /// Whole float4 a thread in both loads, multiples of 4 in the thread tile, 48 KB of static shared memory.
  bool valid() const;
};

/// What of the user's goes into the body. Texts of expressions are used inside parentheses.
struct GemmTask {
  std::string a, b, c;                      ///< pointers
  std::string rows, cols, depth;            ///< M, N, K
  std::string lda, ldb, ldc;                ///< elements between rows of the stored matrices
  bool a_transposed = false;                ///< A[k * lda + m] instead of A[m * lda + k]
  bool b_transposed = false;                ///< B[n * ldb + k] instead of B[k * ldb + n]
  std::string row_name, col_name, sum_name; ///< the user's names in `epilogue`
  std::string index_type = "int";
  std::string epilogue; ///< the user's statements that store one element, first line not indented
  bool plain_store = false; ///< `epilogue` is no more than C[row * ldc + col] = sum
};

/// The statements of the kernel's body, two spaces a level, for a one-dimensional block of shape.threads() and a
/// grid of ceil(N / shape.n) by ceil(M / shape.m).
std::string render_gemm(const GemmTask &task, const GemmShape &shape,
                        const std::set<std::string> &taken);

} // namespace warpwright::generator
