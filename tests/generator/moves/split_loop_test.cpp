// split_loop: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("split_loop: rows of a sparse matrix by groups of eight threads") {
  check_move(R"cuda(__global__ void ^spmv(const int *rows, const int *columns, const float *values, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0.0f;
    for (int j = rows[i]; j < rows[i + 1]; j++)
      sum += values[j] * x[columns[j]];
    y[i] = sum;
  }
}
void run(int *rows, int *columns, float *values, float *x, float *y, int n) {
  spmv<<<(n + 255) / 256, 256>>>(rows, columns, values, x, y, n);
}
)cuda",
             "split_loop(threads=8)",
             R"cuda(__global__ void spmv(const int *rows, const int *columns, const float *values, const float *x, float *y, int n) {
  const int lane = threadIdx.x % 8;
  const unsigned group = 0xffu << (threadIdx.x % 32 - lane);
  int i = blockIdx.x * (blockDim.x / 8) + threadIdx.x / 8;
  if (i < n) {
    float sum = 0.0f;
    for (int j = rows[i] + lane; j < rows[i + 1]; j += 8)
      sum += values[j] * x[columns[j]];
    #pragma unroll
    for (int offset = 4; offset > 0; offset >>= 1)
      sum = sum + __shfl_xor_sync(group, sum, offset);
    if (lane == 0)
      y[i] = sum;
  }
}
void run(int *rows, int *columns, float *values, float *x, float *y, int n) {
  spmv<<<((n + 255) / 256) * 8, 256>>>(rows, columns, values, x, y, n);
}
)cuda");
}

TEST_CASE("split_loop: a warp, a start that is not neutral, and what is stored before it is read") {
  check_move(R"cuda(__global__ void ^rows(const float *x, float *out, int n, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = out[i], largest = -1e30f;
  for (int j = columns - 1; j >= 0; j -= 2) {
    sum += x[i * columns + j];
    if (x[i * columns + j] > largest)
      largest = x[i * columns + j];
  }
  out[i] = sum;
  out[i + n] = largest;
}
void run(float *x, float *out, int n, int columns) { rows<<<(n + 127) / 128, 128>>>(x, out, n, columns); }
)cuda",
             "split_loop(threads=32)",
             R"cuda(__global__ void rows(const float *x, float *out, int n, int columns) {
  const int lane = threadIdx.x % 32;
  const int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (i >= n)
    return;
  float sum = out[i], largest = -1e30f;
  if (lane != 0)
    sum = 0.0f;
  for (int j = columns - 1 - lane * 2; j >= 0; j -= 2 * 32) {
    sum += x[i * columns + j];
    if (x[i * columns + j] > largest)
      largest = x[i * columns + j];
  }
  #pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
  #pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  __syncwarp();
  if (lane == 0) {
    out[i] = sum;
    out[i + n] = largest;
  }
  __syncwarp();
}
void run(float *x, float *out, int n, int columns) { rows<<<((n + 127) / 128) * 32, 128>>>(x, out, n, columns); }
)cuda");
}

TEST_CASE("split_loop: a kernel of one thread becomes a block") {
  check_move(R"cuda(__global__ void ^total(const int *x, int *out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[i];
  *out = sum;
}
void run(int *x, int *out, int n) { total<<<1, 1>>>(x, out, n); }
)cuda",
             "split_loop(threads=256)",
             R"cuda(__global__ void total(const int *x, int *out, int n) {
  const int lane = threadIdx.x;
  int sum = 0;
  for (int i = lane; i < n; i += 256)
    sum += x[i];
  {
    __shared__ int partials[8];
    #pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
      sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
      partials[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = partials[threadIdx.x % 8];
    #pragma unroll
    for (int offset = 4; offset > 0; offset >>= 1)
      sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
    __syncthreads();
  }
  if (lane == 0)
    *out = sum;
}
void run(int *x, int *out, int n) { total<<<1, 256>>>(x, out, n); }
)cuda");
}

TEST_CASE("split_loop: the nearest point, the first of equal ones") {
  check_move(R"cuda(__global__ void ^nearest(const float *x, const float *y, int *out, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float least = 1e30f;
  int index = -1;
  for (int j = 0; j < count; ++j) {
    const float distance = fabsf(x[i] - y[j]);
    if (distance < least) {
      least = distance;
      index = j;
    }
  }
  out[i] = index;
}
void run(float *x, float *y, int *out, int n, int count) { nearest<<<(n + 63) / 64, 64>>>(x, y, out, n, count); }
)cuda",
             "split_loop(threads=4)",
             R"cuda(__global__ void nearest(const float *x, const float *y, int *out, int n, int count) {
  const int lane = threadIdx.x % 4;
  const unsigned group = 0xfu << (threadIdx.x % 32 - lane);
  int i = blockIdx.x * (blockDim.x / 4) + threadIdx.x / 4;
  if (i >= n)
    return;
  float least = 1e30f;
  int index = -1;
  int least_at = 0;
  for (int j = lane; j < count; j += 4) {
    const float distance = fabsf(x[i] - y[j]);
    if (distance < least) {
      least = distance;
      least_at = j;
      index = j;
    }
  }
  #pragma unroll
  for (int offset = 2; offset > 0; offset >>= 1) {
    const float other_least = __shfl_xor_sync(group, least, offset);
    const int other_least_at = __shfl_xor_sync(group, least_at, offset);
    const int other_index = __shfl_xor_sync(group, index, offset);
    if (other_least < least || (other_least == least && other_least_at < least_at)) {
      least = other_least;
      least_at = other_least_at;
      index = other_index;
    }
  }
  if (lane == 0)
    out[i] = index;
}
void run(float *x, float *y, int *out, int n, int count) { nearest<<<((n + 63) / 64) * 4, 64>>>(x, y, out, n, count); }
)cuda");
}

namespace {

/// A kernel with this body, one thread for each of `out`.
std::string kernel(const std::string &body) {
  return "__global__ void ^work(const float *x, float *out, int *counts, int n, int columns) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
         body +
         "}\nvoid run(float *x, float *out, int *counts, int n, int columns) {\n"
         "  work<<<(n + 127) / 128, 128>>>(x, out, counts, n, columns);\n}\n";
}

} // namespace

TEST_CASE("split_loop: loops whose iterations depend on each other are refused") {
  check_refused(kernel("  float sum = 0;\n"
                       "  for (int j = 0; j < columns; ++j)\n"
                       "    sum = sum * 0.5f + x[j];\n"
                       "  out[i] = sum;\n"),
                "split_loop(threads=8)", "a loop carries sum from one iteration to the next");
  check_refused(kernel("  float sum = 0;\n"
                       "  for (int j = 0; j < columns; ++j) {\n"
                       "    sum += x[j];\n"
                       "    out[i * columns + j] = sum;\n"
                       "  }\n"),
                "split_loop(threads=8)", "a loop carries sum from one iteration to the next");
  check_refused(kernel("  for (int j = 1; j < columns; ++j)\n"
                       "    out[i * columns + j] = out[i * columns + j - 1] + x[j];\n"),
                "split_loop(threads=8)", "iterations of a loop may store to the same element of out");
  check_refused(kernel("  for (int j = 0; j < columns; ++j)\n"
                       "    out[counts[j]] = x[j];\n"),
                "split_loop(threads=8)", "a loop stores to a place that depends on data");
  check_refused(kernel("  float sum = 0;\n"
                       "  for (int j = 0; j < columns; ++j) {\n"
                       "    if (x[j] < 0) break;\n"
                       "    sum += x[j];\n"
                       "  }\n"
                       "  out[i] = sum;\n"),
                "split_loop(threads=8)", "a loop may end early");
}

TEST_CASE("split_loop: values that only one thread has are refused") {
  check_refused(kernel("  int at = atomicAdd(counts, 1);\n"
                       "  float sum = 0;\n"
                       "  for (int j = 0; j < columns; ++j)\n"
                       "    sum += x[at * columns + j];\n"
                       "  out[i] = sum;\n"),
                "split_loop(threads=8)", "a statement that stores gives a value that is used elsewhere");
}

TEST_CASE("split_loop: shared memory and unknown blocks are refused") {
  check_refused(R"cuda(__global__ void ^sums(const float *x, float *out, int n) {
  __shared__ float part[64];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 64; ++j)
    sum += part[j];
  out[threadIdx.x] = sum;
}
void run(float *x, float *out, int n) { sums<<<1, 64>>>(x, out, n); }
)cuda",
                "split_loop(threads=8)", "the kernel uses shared memory, a barrier or warp operations");
  check_refused(R"cuda(__global__ void ^sums(const float *x, float *out, int n) {
  float sum = 0;
  for (int j = 0; j < n; ++j)
    sum += x[j];
  out[threadIdx.x] = sum;
}
void run(float *x, float *out, int n) { sums<<<1, n>>>(x, out, n); }
)cuda",
                "split_loop(threads=8)", "the block's size is not known");
}
