// Softmax over each row of a matrix, one thread a row. Neighbouring threads read addresses a whole row apart,
// and only as many threads run as there are rows.
//
//   nvcc -O3 softmax.cu -o softmax && ./softmax
//   warpwright optimize softmax.cu
#include <cstdio>
#include <vector>

__global__ void softmax(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float largest = x[row * cols];
  for (int j = 1; j < cols; j++)
    largest = fmaxf(largest, x[row * cols + j]);
  float sum = 0.0f;
  for (int j = 0; j < cols; j++)
    sum += expf(x[row * cols + j] - largest);
  for (int j = 0; j < cols; j++)
    y[row * cols + j] = expf(x[row * cols + j] - largest) / sum;
}

int main() {
  const int rows = 4096;
  const int cols = 1024;
  std::vector<float> x(rows * cols), y(rows * cols);
  for (int i = 0; i < rows * cols; ++i)
    x[i] = (i % 97) * 0.0625f;

  float *d_x, *d_y;
  cudaMalloc(&d_x, rows * cols * sizeof(float));
  cudaMalloc(&d_y, rows * cols * sizeof(float));
  cudaMemcpy(d_x, x.data(), rows * cols * sizeof(float), cudaMemcpyHostToDevice);

  softmax<<<(rows + 127) / 128, 128>>>(d_x, d_y, rows, cols);

  cudaMemcpy(y.data(), d_y, rows * cols * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    printf("softmax: %s\n", cudaGetErrorString(error));
    return 1;
  }

  double checksum = 0;
  for (int i = 0; i < rows * cols; ++i)
    checksum += y[i] * (i % 13);
  printf("softmax: checksum %.1f\n", checksum);
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}
