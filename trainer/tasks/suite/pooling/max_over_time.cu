// The largest value over time of each feature, one thread a feature of a sequence.
// warpwright: batch = 32, steps = 256, width = 512, check batch = 2 steps = 17 width = 3
__global__ void max_over_time(const float *x, float *y, int batch, int steps, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * width)
    return;
  int b = i / width;
  int f = i % width;
  float best = x[b * steps * width + f];
  for (int t = 1; t < steps; t++)
    best = fmaxf(best, x[(b * steps + t) * width + f]);
  y[i] = best;
}

void launch(const float *x, float *y, int batch, int steps, int width) {
  max_over_time<<<(batch * width + 127) / 128, 128>>>(x, y, batch, steps, width);
}
