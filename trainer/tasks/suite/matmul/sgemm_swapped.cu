// BLAS's product from its formula, alpha A B + beta C, with the thread's x along the rows.
// warpwright: M = 1024, N = 1024, K = 1024, alpha = 1.5, beta = 0.5, check M = 17 N = 33 K = 5
__global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                      float *C) {
  const unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < M && y < N) {
    float tmp = 0.0;
    for (int i = 0; i < K; ++i) {
      tmp += A[x * K + i] * B[i * N + y];
    }
    C[x * N + y] = alpha * tmp + beta * C[x * N + y];
  }
}

void run_sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
               float *C) {
  dim3 grid((M + 31) / 32, (N + 31) / 32, 1);
  dim3 block(32, 32, 1);
  sgemm<<<grid, block>>>(M, N, K, alpha, A, B, beta, C);
}
