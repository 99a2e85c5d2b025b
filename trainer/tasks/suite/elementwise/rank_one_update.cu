// A += alpha * u v^T. The thread's x is the row, so a warp touches 32 rows at once.
// warpwright: M = 4096, N = 4096, alpha = 0.125, check M = 5 N = 33
__global__ void ger(int M, int N, float alpha, const float *u, const float *v, float *A) {
  int m = threadIdx.x + blockIdx.x * blockDim.x;
  int n = threadIdx.y + blockIdx.y * blockDim.y;
  if (m >= M || n >= N)
    return;
  A[m * N + n] += alpha * u[m] * v[n];
}

void call_ger(int M, int N, float alpha, const float *u, const float *v, float *A) {
  ger<<<dim3((M + 31) / 32, (N + 7) / 8), dim3(32, 8)>>>(M, N, alpha, u, v, A);
}
