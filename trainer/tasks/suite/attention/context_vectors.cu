// Context vectors of one head: weights times values, each divided by what the query's weights add up to.
// warpwright: steps = 2048, cached = 2048, width = 128, check steps = 17 cached = 5 width = 33
// warpwright: total: positive
__global__ void context(const float *weights, const float *values, const float *total, float *ctx,
                        int steps, int cached, int width) {
  const int col = blockDim.x * blockIdx.x + threadIdx.x;
  const int row = blockDim.y * blockIdx.y + threadIdx.y;
  if (row < steps && col < width) {
    float acc = 0;
    for (int c = 0; c < cached; ++c)
      acc = fmaf(weights[row * cached + c], values[c * width + col], acc);
    ctx[row * width + col] = acc / total[row];
  }
}

void context_vectors(const float *weights, const float *values, const float *total, float *ctx,
                     int steps, int cached, int width) {
  dim3 block(8, 8);
  dim3 grid((width + 7) / 8, (steps + 7) / 8);
  context<<<grid, block>>>(weights, values, total, ctx, steps, cached, width);
}
