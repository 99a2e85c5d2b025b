// Softmax of attention scores under the causal mask, one thread a query.
// warpwright: heads = 32, steps = 512, check heads = 2 steps = 5
__global__ void causal_weights(const float *scores, float *weights, int heads, int steps) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= heads * steps)
    return;
  int last = row % steps;
  float largest = -3.0e38f;
  for (int j = 0; j <= last; j++)
    largest = fmaxf(largest, scores[row * steps + j]);
  float sum = 0.0f;
  for (int j = 0; j <= last; j++)
    sum += expf(scores[row * steps + j] - largest);
  for (int j = 0; j < steps; j++)
    weights[row * steps + j] = j <= last ? expf(scores[row * steps + j] - largest) / sum : 0.0f;
}

void launch(const float *scores, float *weights, int heads, int steps) {
  causal_weights<<<(heads * steps + 63) / 64, 64>>>(scores, weights, heads, steps);
}
