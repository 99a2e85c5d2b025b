// Values of 64 added up with attention weights, one thread a value.
// warpwright: heads = 32, steps = 512, check heads = 2 steps = 5
__global__ void weighted_values(const float *weights, const float *v, float *out, int heads,
                                int steps) {
  int d = threadIdx.x;
  int i = blockIdx.x;
  int h = blockIdx.y;
  float sum = 0.0f;
  for (int j = 0; j < steps; j++)
    sum += weights[(h * steps + i) * steps + j] * v[(h * steps + j) * 64 + d];
  out[(h * steps + i) * 64 + d] = sum;
}

void launch(const float *weights, const float *v, float *out, int heads, int steps) {
  dim3 grid(steps, heads);
  weighted_values<<<grid, 64>>>(weights, v, out, heads, steps);
}
