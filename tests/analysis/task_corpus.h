// Realistic CUDA programs for the tests of task inference: what people write, without a comment for
// any tool. Thread: values.
#pragma once

namespace warpwright::analysis::corpus {

inline constexpr const char *kTiledMatmul = R"(
#include <cstdio>
#define TILE 16
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)
__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y;
  int col = blockIdx.x * TILE + threadIdx.x;
  float acc = 0.0f;
  for (int t = 0; t < K / TILE; ++t) {
    As[threadIdx.y][threadIdx.x] = A[row * K + t * TILE + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * N + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * N + col] = acc;
}
int main() {
  int M = 1024, N = 512, K = 2048;
  size_t bytesA = M * K * sizeof(float), bytesB = K * N * sizeof(float), bytesC = M * N * sizeof(float);
  float *dA, *dB, *dC;
  CHECK(cudaMalloc((void **)&dA, bytesA));
  CHECK(cudaMalloc((void **)&dB, bytesB));
  CHECK(cudaMalloc((void **)&dC, bytesC));
  dim3 threads(TILE, TILE);
  dim3 grid(N / TILE, M / TILE);
  matmul_tiled<<<grid, threads>>>(dA, dB, dC, M, N, K);
  CHECK(cudaDeviceSynchronize());
  return 0;
})";

inline constexpr const char *kLauncher = R"(
inline int div_up(int a, int b) { return (a + b - 1) / b; }
template <typename T, int BLOCK>
__global__ void row_softmax(const T *__restrict__ in, T *__restrict__ out, int cols) {
  extern __shared__ float buffer[];
  const T *row = in + blockIdx.x * cols;
  T *result = out + blockIdx.x * cols;
  float largest = -1e30f;
  for (int i = threadIdx.x; i < cols; i += BLOCK) largest = fmaxf(largest, row[i]);
  buffer[threadIdx.x] = largest;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) buffer[threadIdx.x] = fmaxf(buffer[threadIdx.x], buffer[threadIdx.x + s]);
    __syncthreads();
  }
  largest = buffer[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += BLOCK) sum += expf(row[i] - largest);
  buffer[threadIdx.x] = sum;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < cols; i += BLOCK) result[i] = expf(row[i] - largest) / buffer[0];
}
template <typename T>
void softmax(const T *in, T *out, int rows, int cols) {
  constexpr int kThreads = 256;
  row_softmax<T, kThreads><<<rows, kThreads, kThreads * sizeof(float)>>>(in, out, cols);
}
int main(int argc, char **argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 2048;
  const int cols = 1 << 10;
  float *x, *y;
  cudaMallocManaged(&x, sizeof(float) * rows * cols);
  cudaMallocManaged(&y, sizeof(float) * rows * cols);
  softmax<float>(x, y, rows, cols);
})";

inline constexpr const char *kParticles = R"(
struct Particles { float *x, *y, *vx, *vy; };
__global__ void update(float *x, float *y, float *vx, float *vy, const float *mass, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float inverse = 1.0f / mass[i];
  vx[i] -= x[i] * inverse * dt;
  vy[i] -= y[i] * inverse * dt;
  x[i] += vx[i] * dt;
  y[i] += vy[i] * dt;
}
static const float kStep = 0.01f;
int main() {
  const int count = 1000000;
  const int threads = 256, blocks = (count + threads - 1) / threads;
  float *x, *y, *vx, *vy, *mass;
  cudaMalloc(&x, count * sizeof(float)); cudaMalloc(&y, count * sizeof(float));
  cudaMalloc(&vx, count * sizeof(float)); cudaMalloc(&vy, count * sizeof(float));
  cudaMalloc(&mass, count * sizeof(float));
  for (int step = 0; step < 100; ++step)
    update<<<blocks, threads>>>(x, y, vx, vy, mass, kStep, count);
})";

inline constexpr const char *kGather = R"(
__global__ void embed(const float *table, const int *ids, float *out, int dim, int vocabulary) {
  int token = blockIdx.x;
  for (int j = threadIdx.x; j < dim; j += blockDim.x)
    out[token * dim + j] = table[ids[token] * dim + j];
}
int main() {
  int tokens = 4096, dim = 768, vocabulary = 50257;
  float *table, *out; int *ids;
  cudaMalloc(&table, (size_t)vocabulary * dim * sizeof(float));
  cudaMalloc(&ids, tokens * sizeof(int));
  cudaMalloc(&out, (size_t)tokens * dim * sizeof(float));
  embed<<<tokens, 128>>>(table, ids, out, dim, vocabulary);
})";

inline constexpr const char *kStencil = R"(
#include <algorithm>
__global__ void blur(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int at = y * w + x;
  if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
    out[at] = 0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - w] + in[at + w]);
}
const int kWidth = 3840;
int main() {
  int h = 2160;
  float *a, *b;
  cudaMalloc(&a, kWidth * h * 4); cudaMalloc(&b, kWidth * h * 4);
  auto up = [](int v, int m) { return (v + m - 1) / m; };
  dim3 block(32, 8);
  dim3 grid;
  grid.x = up(kWidth, block.x);
  grid.y = std::max(up(h, 8), 1);
  blur<<<grid, block>>>(a, b, kWidth, h);
})";

inline constexpr const char *kHalf = R"(
#include <cuda_fp16.h>
__global__ void scale(const __half *x, __half *y, float alpha, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = __float2half(alpha * __half2float(x[i]));
}
void run(const __half *x, __half *y, int n) { scale<<<std::min((n + 255) / 256, 1024), 256>>>(x, y, 0.5f, n); }
int main() {
  const int n = 1 << 22;
  __half *x, *y;
  cudaMalloc(&x, n * sizeof(__half)); cudaMalloc(&y, n * sizeof(__half));
  run(x, y, n);
})";

inline constexpr const char *kVectors = R"(
__global__ void add4(const float4 *a, const float4 *b, float4 *c, int n4) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) { float4 u = a[i], v = b[i]; c[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w); }
}
int main() {
  int n = 1 << 22;
  float *a, *b, *c;
  cudaMalloc(&a, n * sizeof(float)); cudaMalloc(&b, n * sizeof(float)); cudaMalloc(&c, n * sizeof(float));
  add4<<<(n / 4 + 127) / 128, 128>>>((float4 *)a, reinterpret_cast<float4 *>(b), (float4 *)c, n / 4);
})";

} // namespace warpwright::analysis::corpus
