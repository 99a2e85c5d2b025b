// Attention of one query a thread: the scores are computed twice instead of being kept, the sum in 32 registers.
// warpwright: heads = 16, steps = 512, check heads = 2 steps = 5
__global__ void attention_query(const float *q, const float *k, const float *v, float *out,
                                int heads, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int h = blockIdx.y;
  if (i >= steps)
    return;
  const float *query = q + (h * steps + i) * 32;
  float largest = -3.0e38f;
  for (int j = 0; j < steps; j++) {
    float score = 0.0f;
    for (int d = 0; d < 32; d++)
      score += query[d] * k[(h * steps + j) * 32 + d];
    largest = fmaxf(largest, score * 0.17677669f);
  }
  float sum = 0.0f;
  float result[32];
  for (int d = 0; d < 32; d++)
    result[d] = 0.0f;
  for (int j = 0; j < steps; j++) {
    float score = 0.0f;
    for (int d = 0; d < 32; d++)
      score += query[d] * k[(h * steps + j) * 32 + d];
    float weight = expf(score * 0.17677669f - largest);
    sum += weight;
    for (int d = 0; d < 32; d++)
      result[d] += weight * v[(h * steps + j) * 32 + d];
  }
  for (int d = 0; d < 32; d++)
    out[(h * steps + i) * 32 + d] = result[d] / sum;
}

void launch(const float *q, const float *k, const float *v, float *out, int heads, int steps) {
  dim3 grid((steps + 63) / 64, heads);
  attention_query<<<grid, 64>>>(q, k, v, out, heads, steps);
}
