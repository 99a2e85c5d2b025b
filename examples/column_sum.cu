// Sums of the columns of a column-major matrix (BLAS layout), one thread a column: neighbouring
// threads read addresses that lie a whole column apart, so every load of a warp touches 32 cache lines.
//
//   nvcc -O3 column_sum.cu -o column_sum && ./column_sum
//   warpwright optimize column_sum.cu
#include <cstdio>
#include <vector>

__global__ void column_sum(const float *matrix, float *sums, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col < cols) {
    float sum = 0.0f;
    for (int row = 0; row < rows; row++)
      sum += matrix[col * rows + row];
    sums[col] = sum;
  }
}

int main() {
  const int rows = 1024;
  const int cols = 16384;
  std::vector<float> matrix(rows * cols), sums(cols);
  for (int i = 0; i < rows * cols; ++i)
    matrix[i] = i % 31 - 15;

  float *d_matrix, *d_sums;
  cudaMalloc(&d_matrix, rows * cols * sizeof(float));
  cudaMalloc(&d_sums, cols * sizeof(float));
  cudaMemcpy(d_matrix, matrix.data(), rows * cols * sizeof(float), cudaMemcpyHostToDevice);

  column_sum<<<(cols + 255) / 256, 256>>>(d_matrix, d_sums, rows, cols);

  cudaMemcpy(sums.data(), d_sums, cols * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    printf("column_sum: %s\n", cudaGetErrorString(error));
    return 1;
  }

  double checksum = 0;
  for (int j = 0; j < cols; ++j)
    checksum += sums[j] * (j % 11);
  printf("column_sum: checksum %.1f\n", checksum);
  cudaFree(d_matrix);
  cudaFree(d_sums);
  return 0;
}
