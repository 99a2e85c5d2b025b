// block_size: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("block_size: the block and the grid's numbers follow") {
  check_move(R"cuda(__global__ void ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
             "block_size(x=512)", R"cuda(__global__ void saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 511) / 512, 512>>>(n, 2.0f, x, y); }
)cuda");
}

TEST_CASE("block_size: a macro that serves the kernel alone is changed at its definition") {
  check_move(R"cuda(#define BLOCK 256
__global__ void ^total(const float *x, float *out, int n) {
  __shared__ float part[BLOCK];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (t < s)
      part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0)
    atomicAdd(out, part[0]);
}
void run(int n, float *x, float *out) { total<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, out, n); }
)cuda",
             "block_size(x=128)", R"cuda(#define BLOCK 128
__global__ void total(const float *x, float *out, int n) {
  __shared__ float part[BLOCK];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (t < s)
      part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0)
    atomicAdd(out, part[0]);
}
void run(int n, float *x, float *out) { total<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, out, n); }
)cuda");
}

TEST_CASE("block_size: a constant that another kernel shares becomes a number") {
  check_move(R"cuda(constexpr int kBlock = 256;
__global__ void ^a(float *x, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n)
    x[i] = 1;
}
__global__ void b(float *x, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n)
    x[i] = 2;
}
void run(int n, float *x) {
  a<<<(n + kBlock - 1) / kBlock, kBlock>>>(x, n);
  b<<<(n + kBlock - 1) / kBlock, kBlock>>>(x, n);
}
)cuda",
             "block_size(x=512)", R"cuda(constexpr int kBlock = 256;
__global__ void a(float *x, int n) {
  int i = blockIdx.x * 512 + threadIdx.x;
  if (i < n)
    x[i] = 1;
}
__global__ void b(float *x, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n)
    x[i] = 2;
}
void run(int n, float *x) {
  a<<<(n + 512 - 1) / 512, 512>>>(x, n);
  b<<<(n + kBlock - 1) / kBlock, kBlock>>>(x, n);
}
)cuda");
}

TEST_CASE("block_size: a two-dimensional block in a variable") {
  check_move(R"cuda(__global__ void ^fill(float *m, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols)
    m[r * cols + c] = r;
}
void run(float *m, int rows, int cols) {
  dim3 block(32, 8);
  dim3 grid((rows + block.x - 1) / block.x, (cols + block.y - 1) / block.y);
  fill<<<grid, block>>>(m, rows, cols);
}
)cuda",
             "block_size(x=64,y=4)", R"cuda(__global__ void fill(float *m, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols)
    m[r * cols + c] = r;
}
void run(float *m, int rows, int cols) {
  dim3 block(64, 4);
  dim3 grid((rows + block.x - 1) / block.x, (cols + block.y - 1) / block.y);
  fill<<<grid, block>>>(m, rows, cols);
}
)cuda");
}

TEST_CASE("block_size: a grid that does not follow is refused where the place in the block matters") {
  check_refused(R"cuda(__global__ void ^k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = threadIdx.x;
}
void run(int n, float *x, int blocks) { k<<<blocks, 256>>>(x, n); }
)cuda",
                "block_size(x=512)", "the grid does not follow from the block");
}

TEST_CASE("block_size: launch bounds are respected") {
  check_refused(
      R"cuda(__global__ void __launch_bounds__(256) ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
      "block_size(x=512)", "__launch_bounds__ fixes the block");
}

TEST_CASE(
    "block_size: a number that equals the block is left alone in a kernel that says blockDim") {
  check_move(R"cuda(__global__ void ^bag_mean(const float *table, float *out, int bags) {
  int bag = blockIdx.x * blockDim.x + threadIdx.x;
  if (bag >= bags)
    return;
  for (int d = 0; d < 64; d++)
    out[bag * 64 + d] = table[bag * 64 + d] / 16.0f;
}
void launch(const float *table, float *out, int bags) {
  bag_mean<<<(bags + 63) / 64, 64>>>(table, out, bags);
})cuda",
             "block_size(x=256)",
             R"cuda(__global__ void bag_mean(const float *table, float *out, int bags) {
  int bag = blockIdx.x * blockDim.x + threadIdx.x;
  if (bag >= bags)
    return;
  for (int d = 0; d < 64; d++)
    out[bag * 64 + d] = table[bag * 64 + d] / 16.0f;
}
void launch(const float *table, float *out, int bags) {
  bag_mean<<<(bags + 255) / 256, 256>>>(table, out, bags);
})cuda");
}

TEST_CASE("block_size: a block that is a length of the data is refused") {
  check_refused(
      R"cuda(__global__ void ^weighted(const float *w, const float *v, float *out, int steps) {
  int d = threadIdx.x, i = blockIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < steps; j++)
    sum += w[i * steps + j] * v[j * 64 + d];
  out[i * 64 + d] = sum;
}
void launch(const float *w, const float *v, float *out, int steps) {
  weighted<<<steps, 64>>>(w, v, out, steps);
})cuda",
      "block_size(x=128)", "the block's size is a length of the data, too");
}

TEST_CASE("block_size: a kernel that stores a result a block is refused") {
  check_refused(R"cuda(__global__ void ^block_sums(const float *x, float *sums, int n) {
  __shared__ float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int t = 0; t < blockDim.x; t++)
      sum += part[t];
    sums[blockIdx.x] = sum;
  }
}
void launch(const float *x, float *sums, int n) {
  block_sums<<<(n + 255) / 256, 256>>>(x, sums, n);
})cuda",
                "block_size(x=128)",
                "a result a block is stored, so that their number is part of the result");
}

TEST_CASE("block_size: a kernel with a global index alone takes any block, whatever the text calls it") {
  check_move(R"cuda(__global__ void ^scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2.0f;
}
void run(float *x, int n) {
  dim3 threads(1, 1, 1);
  threads.x = 64 * 4;
  int blocks = (n + threads.x - 1) / threads.x;
  scale<<<blocks, 64 * 4>>>(x, n);
}
)cuda",
             "block_size(x=128)",
             R"cuda(__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2.0f;
}
void run(float *x, int n) {
  dim3 threads(1, 1, 1);
  threads.x = 64 * 4;
  int blocks = (n + threads.x - 1) / threads.x;
  scale<<<(((n + threads.x - 1) / threads.x) * (64 * 4) + 127) / 128, 128>>>(x, n);
}
)cuda");
}

TEST_CASE("block_size: names of the thread's places do not matter") {
  check_move(R"cuda(template <typename T> __global__ void ^scale(T *x, int n) {
  const int block = blockIdx.x, thread = threadIdx.x;
  for (int i = block * blockDim.x + thread; i < n; i += gridDim.x * blockDim.x)
    x[i] *= 2;
}
void run(float *x, int n) { scale<float><<<64, 32 * 8>>>(x, n); }
)cuda",
             "block_size(x=512)",
             R"cuda(template <typename T> __global__ void scale(T *x, int n) {
  const int block = blockIdx.x, thread = threadIdx.x;
  for (int i = block * blockDim.x + thread; i < n; i += gridDim.x * blockDim.x)
    x[i] *= 2;
}
void run(float *x, int n) { scale<float><<<(64 * (32 * 8) + 511) / 512, 512>>>(x, n); }
)cuda");
}

TEST_CASE("block_size: without a bounds check the threads stay as many") {
  const char *program = R"cuda(__global__ void ^scale(float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= 2.0f;
}
void run(float *x, int n) { scale<<<n / 128, 64 * 2>>>(x); }
)cuda";
  check_parses(program, "block_size(x=64)");
  check_refused(program, "block_size(x=256)", "these parameters are not among the legal ones");
}
