// B = transpose(A) of a row-major matrix. Reads are coalesced, writes jump a whole row from thread to thread.
//
//   nvcc -O3 transpose.cu -o transpose && ./transpose
//   warpwright optimize transpose.cu
#include <cstdio>
#include <vector>

__global__ void transpose(const float *in, float *out, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < cols && y < rows)
    out[x * rows + y] = in[y * cols + x];
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

  dim3 threads(32, 8);
  dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
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
