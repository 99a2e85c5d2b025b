// Scaled scores of queries against keys of 64 values, one thread a score.
// warpwright: heads = 32, steps = 512, check heads = 2 steps = 5
__global__ void attention_scores(const float *q, const float *k, float *scores, int heads,
                                 int steps) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int h = blockIdx.z;
  if (i >= steps || j >= steps)
    return;
  float sum = 0.0f;
  for (int d = 0; d < 64; d++)
    sum += q[(h * steps + i) * 64 + d] * k[(h * steps + j) * 64 + d];
  scores[(h * steps + i) * steps + j] = sum * 0.125f;
}

void launch(const float *q, const float *k, float *scores, int heads, int steps) {
  dim3 block(16, 16);
  dim3 grid((steps + 15) / 16, (steps + 15) / 16, heads);
  attention_scores<<<grid, block>>>(q, k, scores, heads, steps);
}
