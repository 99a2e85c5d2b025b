// Layer normalisation of each row, one block a row: mean and variance by trees in shared memory, then scale
// and shift. Three passes over the row, two trees with a barrier a level.
//
//   nvcc -O3 layernorm.cu -o layernorm && ./layernorm
//   warpwright optimize layernorm.cu
#include <cstdio>
#include <vector>

#define THREADS 256

__global__ void layernorm(const float *x, const float *gamma, const float *beta, float *y, int cols) {
  __shared__ float scratch[THREADS];
  int row = blockIdx.x;
  int tid = threadIdx.x;

  float sum = 0.0f;
  for (int j = tid; j < cols; j += THREADS)
    sum += x[row * cols + j];
  scratch[tid] = sum;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s >>= 1) {
    if (tid < s)
      scratch[tid] += scratch[tid + s];
    __syncthreads();
  }
  float mean = scratch[0] / cols;
  __syncthreads();

  float squares = 0.0f;
  for (int j = tid; j < cols; j += THREADS) {
    float d = x[row * cols + j] - mean;
    squares += d * d;
  }
  scratch[tid] = squares;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s >>= 1) {
    if (tid < s)
      scratch[tid] += scratch[tid + s];
    __syncthreads();
  }
  float scale = 1.0f / sqrtf(scratch[0] / cols + 1e-5f);

  for (int j = tid; j < cols; j += THREADS)
    y[row * cols + j] = (x[row * cols + j] - mean) * scale * gamma[j] + beta[j];
}

int main() {
  const int rows = 8192;
  const int cols = 1024;
  std::vector<float> x(rows * cols), y(rows * cols), gamma(cols), beta(cols);
  for (int i = 0; i < rows * cols; ++i)
    x[i] = (i % 251) * 0.03125f - 2.0f;
  for (int j = 0; j < cols; ++j) {
    gamma[j] = 1.0f + (j % 5) * 0.125f;
    beta[j] = (j % 3) * 0.25f;
  }

  float *d_x, *d_gamma, *d_beta, *d_y;
  cudaMalloc(&d_x, rows * cols * sizeof(float));
  cudaMalloc(&d_gamma, cols * sizeof(float));
  cudaMalloc(&d_beta, cols * sizeof(float));
  cudaMalloc(&d_y, rows * cols * sizeof(float));
  cudaMemcpy(d_x, x.data(), rows * cols * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gamma, gamma.data(), cols * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_beta, beta.data(), cols * sizeof(float), cudaMemcpyHostToDevice);

  layernorm<<<rows, THREADS>>>(d_x, d_gamma, d_beta, d_y, cols);

  cudaMemcpy(y.data(), d_y, rows * cols * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    printf("layernorm: %s\n", cudaGetErrorString(error));
    return 1;
  }

  double checksum = 0;
  for (int i = 0; i < rows * cols; ++i)
    checksum += y[i] * (i % 13) / 1000.0;
  printf("layernorm: checksum %.1f\n", checksum);
  cudaFree(d_x);
  cudaFree(d_gamma);
  cudaFree(d_beta);
  cudaFree(d_y);
  return 0;
}
