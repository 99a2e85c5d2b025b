// y = clamp(alpha * x + beta * y, low, high) in place, with blocks of 64 threads.
// warpwright: n = 16000000, check n = 1 | n = 1023
// warpwright: alpha = 1.5, beta = 0.25, low = -1.0, high = 1.0
__global__ void axpby_clamp(float alpha, const float *x, float beta, float *y, float low, float high,
                            int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = alpha * x[i] + beta * y[i];
  if (v < low)
    v = low;
  if (v > high)
    v = high;
  y[i] = v;
}

void launch(float alpha, const float *x, float beta, float *y, float low, float high, int n) {
  axpby_clamp<<<(n + 63) / 64, 64>>>(alpha, x, beta, y, low, high, n);
}
