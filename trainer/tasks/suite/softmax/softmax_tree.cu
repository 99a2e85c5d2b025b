// Softmax with a block for every row: exponentials are kept in the output, two trees with a barrier at every level.
#include <cfloat>
#include <cstdio>

#define NT 512

__global__ void softmax_tree(const float *__restrict__ logits, float *__restrict__ prob,
                             int width) {
  __shared__ float buf[NT];
  const float *src = logits + blockIdx.x * width;
  float *dst = prob + blockIdx.x * width;
  float m = -FLT_MAX;
  for (int k = threadIdx.x; k < width; k += NT)
    m = fmaxf(m, src[k]);
  buf[threadIdx.x] = m;
  __syncthreads();
  for (int step = NT / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      buf[threadIdx.x] = fmaxf(buf[threadIdx.x], buf[threadIdx.x + step]);
    __syncthreads();
  }
  m = buf[0];
  __syncthreads();
  float z = 0;
  for (int k = threadIdx.x; k < width; k += NT) {
    dst[k] = expf(src[k] - m);
    z += dst[k];
  }
  buf[threadIdx.x] = z;
  __syncthreads();
  for (int step = NT / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      buf[threadIdx.x] += buf[threadIdx.x + step];
    __syncthreads();
  }
  for (int k = threadIdx.x; k < width; k += NT)
    dst[k] /= buf[0];
}

int main() {
  const int height = 8192;
  const int width = 1024;
  float *logits, *prob;
  cudaMalloc(&logits, height * width * sizeof(float));
  cudaMalloc(&prob, height * width * sizeof(float));
  softmax_tree<<<height, NT>>>(logits, prob, width);
  printf("%d\n", (int)cudaDeviceSynchronize());
}
