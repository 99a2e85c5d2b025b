// Exponential smoothing of many series, one thread a series, each step depending on the one before.
// warpwright: series = 8192, steps = 1024, decay = 0.9, check series = 3 steps = 17
__global__ void smoothed_series(const float *x, float *y, float decay, int series, int steps) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= series)
    return;
  float state = 0.0f;
  for (int t = 0; t < steps; t++) {
    state = decay * state + (1.0f - decay) * x[s * steps + t];
    y[s * steps + t] = state;
  }
}

void launch(const float *x, float *y, float decay, int series, int steps) {
  smoothed_series<<<(series + 255) / 256, 256>>>(x, y, decay, series, steps);
}
