// Each scan line stretched to [0, 1]: smallest and largest value by two trees, a block a line.
#include <vector>

__global__ void stretch(const float *line, float *stretched, int width) {
  __shared__ float low[256];
  __shared__ float high[256];
  int t = threadIdx.x;
  int start = blockIdx.x * width;
  float lo = 1e30f, hi = -1e30f;
  for (int x = t; x < width; x += blockDim.x) {
    lo = fminf(lo, line[start + x]);
    hi = fmaxf(hi, line[start + x]);
  }
  low[t] = lo;
  high[t] = hi;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      low[t] = fminf(low[t], low[t + d]);
    __syncthreads();
  }
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      high[t] = fmaxf(high[t], high[t + d]);
    __syncthreads();
  }
  for (int x = t; x < width; x += blockDim.x)
    stretched[start + x] = (line[start + x] - low[0]) / (high[0] - low[0] + 1e-6f);
}

int main() {
  const int lines = 4096;
  const int width = 4096;
  std::vector<float> host(lines * width, 0.5f);
  float *line, *stretched;
  cudaMalloc(&line, lines * width * sizeof(float));
  cudaMalloc(&stretched, lines * width * sizeof(float));
  cudaMemcpy(line, host.data(), lines * width * sizeof(float), cudaMemcpyHostToDevice);
  stretch<<<lines, 256>>>(line, stretched, width);
  cudaMemcpy(host.data(), stretched, lines * width * sizeof(float), cudaMemcpyDeviceToHost);
}
