// gemm: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("gemm: alpha and beta stay as the user wrote them") {
  check_move(
      R"cuda(__global__ void ^sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
      acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * acc + beta * C[row * N + col];
  }
}
void run(int m, int n, int k, float *a, float *b, float *c) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (m + 15) / 16);
  sgemm<<<grid, block>>>(m, n, k, 1.0f, a, b, 0.0f, c);
}
)cuda",
      "gemm(bk=16,bm=64,bn=64,tm=4,tn=4)",
      R"cuda(__global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  constexpr int tile_m = 64, tile_n = 64, tile_k = 16;
  constexpr int thread_m = 4, thread_n = 4;
  constexpr int threads = (tile_m / thread_m) * (tile_n / thread_n);
  constexpr int loads_a = tile_m * tile_k / 4 / threads;
  constexpr int loads_b = tile_n * tile_k / 4 / threads;
  alignas(16) __shared__ float tile_a[2][tile_k][tile_m + 4];
  alignas(16) __shared__ float tile_b[2][tile_k][tile_n + 4];

  const int thread = threadIdx.x;
  const int warp = thread / 32, lane = thread % 32;
  constexpr int warps_n = tile_n / thread_n / 8;
  const int group_m = (warp / warps_n * 4 + lane / 8) * 4;
  const int group_n = (warp % warps_n * 8 + lane % 8) * 4;
  const int first_row = blockIdx.y * tile_m;
  const int first_col = blockIdx.x * tile_n;
  const bool vector_a = reinterpret_cast<size_t>(A) % 16 == 0 && K % 4 == 0;
  const bool vector_b = reinterpret_cast<size_t>(B) % 16 == 0 && N % 4 == 0;

  // Four neighbours in memory, zeros beyond the matrix.
  auto load4 = [](const float *source, int valid, bool vector) {
    float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (vector && valid >= 4) {
      value = *reinterpret_cast<const float4 *>(source);
    } else {
      if (valid > 0) value.x = source[0];
      if (valid > 1) value.y = source[1];
      if (valid > 2) value.z = source[2];
      if (valid > 3) value.w = source[3];
    }
    return value;
  };

  float4 next_a[loads_a], next_b[loads_b];
  auto fetch = [&](int step) {
    #pragma unroll
    for (int load = 0; load < loads_a; ++load) {
      const int vector = thread + load * threads;
      const int outer = first_row + vector / (tile_k / 4);
      const int inner = step + vector % (tile_k / 4) * 4;
      const int valid = outer < M ? static_cast<int>(K - inner) : 0;
      next_a[load] = load4(A + static_cast<size_t>(outer) * K + inner, valid, vector_a);
    }
    #pragma unroll
    for (int load = 0; load < loads_b; ++load) {
      const int vector = thread + load * threads;
      const int outer = step + vector / (tile_n / 4);
      const int inner = first_col + vector % (tile_n / 4) * 4;
      const int valid = outer < K ? static_cast<int>(N - inner) : 0;
      next_b[load] = load4(B + static_cast<size_t>(outer) * N + inner, valid, vector_b);
    }
  };
  auto store = [&](int buffer) {
    #pragma unroll
    for (int load = 0; load < loads_a; ++load) {
      const int vector = thread + load * threads;
      const int outer = vector / (tile_k / 4);
      const int inner = vector % (tile_k / 4) * 4;
      tile_a[buffer][inner + 0][outer] = next_a[load].x;
      tile_a[buffer][inner + 1][outer] = next_a[load].y;
      tile_a[buffer][inner + 2][outer] = next_a[load].z;
      tile_a[buffer][inner + 3][outer] = next_a[load].w;
    }
    #pragma unroll
    for (int load = 0; load < loads_b; ++load) {
      const int vector = thread + load * threads;
      *reinterpret_cast<float4 *>(&tile_b[buffer][vector / (tile_n / 4)][vector % (tile_n / 4) * 4]) = next_b[load];
    }
  };

  float result[thread_m][thread_n] = {};
  fetch(0);
  store(0);
  __syncthreads();
  int buffer = 0;
  for (int step = 0; step < K; step += tile_k) {
    const bool more = step + tile_k < K;
    if (more)
      fetch(step + tile_k);
    #pragma unroll
    for (int k = 0; k < tile_k; ++k) {
      float left[thread_m], right[thread_n];
      #pragma unroll
      for (int i = 0; i < thread_m; i += 4)
        *reinterpret_cast<float4 *>(&left[i]) =
            *reinterpret_cast<const float4 *>(&tile_a[buffer][k][i * (tile_m / thread_m) + group_m]);
      #pragma unroll
      for (int j = 0; j < thread_n; j += 4)
        *reinterpret_cast<float4 *>(&right[j]) =
            *reinterpret_cast<const float4 *>(&tile_b[buffer][k][j * (tile_n / thread_n) + group_n]);
      #pragma unroll
      for (int i = 0; i < thread_m; ++i)
        #pragma unroll
        for (int j = 0; j < thread_n; ++j)
          result[i][j] += left[i] * right[j];
    }
    if (more)
      store(buffer ^ 1);
    __syncthreads();
    buffer ^= 1;
  }

  #pragma unroll
  for (int i = 0; i < thread_m; ++i) {
    const int row = first_row + i / 4 * 4 * (tile_m / thread_m) + group_m + i % 4;
    #pragma unroll
    for (int j = 0; j < thread_n; ++j) {
      const int col = first_col + j / 4 * 4 * (tile_n / thread_n) + group_n + j % 4;
      if (row < M && col < N) {
        float acc = result[i][j];
        C[row * N + col] = alpha * acc + beta * C[row * N + col];
      }
    }
  }
}
void run(int m, int n, int k, float *a, float *b, float *c) {
  dim3 block(256);
  dim3 grid((n + 63) / 64, (m + 63) / 64);
  sgemm<<<grid, block>>>(m, n, k, 1.0f, a, b, 0.0f, c);
}
)cuda");
}

TEST_CASE("gemm: both operands transposed") {
  check_move(
      R"cuda(__global__ void ^sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
      acc += A[k * M + row] * B[col * K + k];
    C[row * N + col] = alpha * acc + beta * C[row * N + col];
  }
}
void run(int m, int n, int k, float *a, float *b, float *c) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (m + 15) / 16);
  sgemm<<<grid, block>>>(m, n, k, 1.0f, a, b, 0.0f, c);
}
)cuda",
      "gemm(bk=8,bm=128,bn=128,tm=8,tn=8)",
      R"cuda(__global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
  constexpr int thread_m = 8, thread_n = 8;
  constexpr int threads = (tile_m / thread_m) * (tile_n / thread_n);
  constexpr int loads_a = tile_m * tile_k / 4 / threads;
  constexpr int loads_b = tile_n * tile_k / 4 / threads;
  alignas(16) __shared__ float tile_a[2][tile_k][tile_m + 4];
  alignas(16) __shared__ float tile_b[2][tile_k][tile_n + 4];

  const int thread = threadIdx.x;
  const int warp = thread / 32, lane = thread % 32;
  constexpr int warps_n = tile_n / thread_n / 8;
  const int group_m = (warp / warps_n * 4 + lane / 8) * 4;
  const int group_n = (warp % warps_n * 8 + lane % 8) * 4;
  const int first_row = blockIdx.y * tile_m;
  const int first_col = blockIdx.x * tile_n;
  const bool vector_a = reinterpret_cast<size_t>(A) % 16 == 0 && M % 4 == 0;
  const bool vector_b = reinterpret_cast<size_t>(B) % 16 == 0 && K % 4 == 0;

  // Four neighbours in memory, zeros beyond the matrix.
  auto load4 = [](const float *source, int valid, bool vector) {
    float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (vector && valid >= 4) {
      value = *reinterpret_cast<const float4 *>(source);
    } else {
      if (valid > 0) value.x = source[0];
      if (valid > 1) value.y = source[1];
      if (valid > 2) value.z = source[2];
      if (valid > 3) value.w = source[3];
    }
    return value;
  };

  float4 next_a[loads_a], next_b[loads_b];
  auto fetch = [&](int step) {
    #pragma unroll
    for (int load = 0; load < loads_a; ++load) {
      const int vector = thread + load * threads;
      const int outer = step + vector / (tile_m / 4);
      const int inner = first_row + vector % (tile_m / 4) * 4;
      const int valid = outer < K ? static_cast<int>(M - inner) : 0;
      next_a[load] = load4(A + static_cast<size_t>(outer) * M + inner, valid, vector_a);
    }
    #pragma unroll
    for (int load = 0; load < loads_b; ++load) {
      const int vector = thread + load * threads;
      const int outer = first_col + vector / (tile_k / 4);
      const int inner = step + vector % (tile_k / 4) * 4;
      const int valid = outer < N ? static_cast<int>(K - inner) : 0;
      next_b[load] = load4(B + static_cast<size_t>(outer) * K + inner, valid, vector_b);
    }
  };
  auto store = [&](int buffer) {
    #pragma unroll
    for (int load = 0; load < loads_a; ++load) {
      const int vector = thread + load * threads;
      *reinterpret_cast<float4 *>(&tile_a[buffer][vector / (tile_m / 4)][vector % (tile_m / 4) * 4]) = next_a[load];
    }
    #pragma unroll
    for (int load = 0; load < loads_b; ++load) {
      const int vector = thread + load * threads;
      const int outer = vector / (tile_k / 4);
      const int inner = vector % (tile_k / 4) * 4;
      tile_b[buffer][inner + 0][outer] = next_b[load].x;
      tile_b[buffer][inner + 1][outer] = next_b[load].y;
      tile_b[buffer][inner + 2][outer] = next_b[load].z;
      tile_b[buffer][inner + 3][outer] = next_b[load].w;
    }
  };

  float result[thread_m][thread_n] = {};
  fetch(0);
  store(0);
  __syncthreads();
  int buffer = 0;
  for (int step = 0; step < K; step += tile_k) {
    const bool more = step + tile_k < K;
    if (more)
      fetch(step + tile_k);
    #pragma unroll
    for (int k = 0; k < tile_k; ++k) {
      float left[thread_m], right[thread_n];
      #pragma unroll
      for (int i = 0; i < thread_m; i += 4)
        *reinterpret_cast<float4 *>(&left[i]) =
            *reinterpret_cast<const float4 *>(&tile_a[buffer][k][i * (tile_m / thread_m) + group_m]);
      #pragma unroll
      for (int j = 0; j < thread_n; j += 4)
        *reinterpret_cast<float4 *>(&right[j]) =
            *reinterpret_cast<const float4 *>(&tile_b[buffer][k][j * (tile_n / thread_n) + group_n]);
      #pragma unroll
      for (int i = 0; i < thread_m; ++i)
        #pragma unroll
        for (int j = 0; j < thread_n; ++j)
          result[i][j] += left[i] * right[j];
    }
    if (more)
      store(buffer ^ 1);
    __syncthreads();
    buffer ^= 1;
  }

  #pragma unroll
  for (int i = 0; i < thread_m; ++i) {
    const int row = first_row + i / 4 * 4 * (tile_m / thread_m) + group_m + i % 4;
    #pragma unroll
    for (int j = 0; j < thread_n; ++j) {
      const int col = first_col + j / 4 * 4 * (tile_n / thread_n) + group_n + j % 4;
      if (row < M && col < N) {
        float acc = result[i][j];
        C[row * N + col] = alpha * acc + beta * C[row * N + col];
      }
    }
  }
}
void run(int m, int n, int k, float *a, float *b, float *c) {
  dim3 block(256);
  dim3 grid((n + 127) / 128, (m + 127) / 128);
  sgemm<<<grid, block>>>(m, n, k, 1.0f, a, b, 0.0f, c);
}
)cuda");
}

TEST_CASE("gemm: an operand at another index is refused") {
  check_refused(
      R"cuda(__global__ void ^sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
      acc += A[row * K + k] * B[k * N + row];
    C[row * N + col] = alpha * acc + beta * C[row * N + col];
  }
}
void run(int m, int n, int k, float *a, float *b, float *c) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (m + 15) / 16);
  sgemm<<<grid, block>>>(m, n, k, 1.0f, a, b, 0.0f, c);
}
)cuda",
      "gemm(bk=16,bm=64,bn=64,tm=4,tn=4)",
      "the operands are not indexed by row and k, and by k and column");
}

TEST_CASE("gemm: the user's names for row, column and sum may be those of the template's loops") {
  const auto source = [](const std::string &row, const std::string &col, const std::string &sum,
                         const std::string &stored) {
    return "__global__ void ^mm(const float *A, const float *B, float *C, int M, int N, int K) {\n"
           "  int " +
           row +
           " = blockIdx.y * blockDim.y + threadIdx.y;\n"
           "  int " +
           col +
           " = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  if (" +
           row + " < M && " + col +
           " < N) {\n"
           "    float " +
           sum +
           " = 0.0f;\n"
           "    for (int k = 0; k < K; ++k)\n"
           "      " +
           sum + " += A[" + row + " * K + k] * B[k * N + " + col +
           "];\n"
           "    C[" +
           row + " * N + " + col + "] = " + stored +
           ";\n"
           "  }\n}\n"
           "void run(int m, int n, int k, float *a, float *b, float *c) {\n"
           "  dim3 block(16, 16);\n"
           "  dim3 grid((n + 15) / 16, (m + 15) / 16);\n"
           "  mm<<<grid, block>>>(a, b, c, m, n, k);\n}\n";
  };
  const char *names[][3] = {{"i", "j", "sum"},          {"j", "i", "target"},
                            {"row", "offset", "acc"},   {"first_row", "group_n", "result"},
                            {"buffer", "warp", "lane"}, {"thread", "tile_a", "store"}};
  for (const auto &[row, col, sum] : names)
    for (const bool plain : {true, false}) {
      CAPTURE(row);
      CAPTURE(plain);
      check_parses(source(row, col, sum, plain ? sum : std::string(sum) + " * 2.0f"),
                   "gemm(bk=16,bm=64,bn=64,tm=4,tn=4)");
    }
}
