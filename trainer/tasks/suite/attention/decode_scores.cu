// Scores of one new query a sequence against all its cached keys of 128 values, one thread a key.
// warpwright: batch = 64, steps = 2048, check batch = 2 steps = 17
__global__ void decode_scores(const float *query, const float *keys, float *scores, int batch,
                              int steps) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b = blockIdx.y;
  if (t < steps) {
    float sum = 0.0f;
    for (int d = 0; d < 128; d++)
      sum += query[b * 128 + d] * keys[(b * steps + t) * 128 + d];
    scores[b * steps + t] = sum * 0.08838835f;
  }
}

void launch(const float *query, const float *keys, float *scores, int batch, int steps) {
  dim3 grid((steps + 127) / 128, batch);
  decode_scores<<<grid, 128>>>(query, keys, scores, batch, steps);
}
