// B = transpose(A) of a row-major matrix. Reads are coalesced, writes jump a whole row from thread to thread.
//
//   nvcc -O3 transpose.cu -o transpose && ./transpose
//   warpwright optimize transpose.cu
#include <cstdio>
#include <vector>

__global__ void __launch_bounds__(256) transpose(const float *in, float *out, int rows, int cols) {
  __shared__ float tile[64][64 + 1];
  const int first_row = blockIdx.y * 64;
  const int first_col = blockIdx.x * 64;
  {
    const int x = first_col + threadIdx.x;
    #pragma unroll
    for (int i = threadIdx.y; i < 64; i += 4) {
      const int y = first_row + i;
      if (y < rows && x < cols)
        tile[i][threadIdx.x] = in[static_cast<size_t>(y) * cols + x];
    }
  }
  __syncthreads();
  {
    const int y = first_row + threadIdx.x;
    #pragma unroll
    for (int i = threadIdx.y; i < 64; i += 4) {
      const int x = first_col + i;
      if (y < rows && x < cols)
        out[static_cast<size_t>(x) * rows + y] = tile[threadIdx.x][i];
    }
  }
}

int main() {
  const int rows = 4096;
  const int cols = 8192;
  const size_t bytes = (size_t)rows * cols * sizeof(float);
  std::vector<float> a(rows * cols), b(rows * cols);
  for (int i = 0; i < rows * cols; ++i)
    a[i] = i % 1009;

  float *d_a, *d_b;
  cudaMalloc(&d_a, bytes);
  cudaMalloc(&d_b, bytes);
  cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice);

  dim3 threads(64, 4);
  dim3 blocks((cols + 63) / 64, (rows + 63) / 64);
  transpose<<<blocks, threads>>>(d_a, d_b, rows, cols);

  cudaMemcpy(b.data(), d_b, bytes, cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    printf("transpose: %s\n", cudaGetErrorString(error));
    return 1;
  }

  double checksum = 0;
  for (int i = 0; i < rows * cols; ++i)
    checksum += b[i] * (i % 7);
  printf("transpose: checksum %.1f\n", checksum);
  cudaFree(d_a);
  cudaFree(d_b);
  return 0;
}
