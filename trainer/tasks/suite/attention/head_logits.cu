// Logits of one head from its queries and keys, from the definition, with a thread's x along the queries.
// warpwright: queries = 2048, keys = 2048, width = 64, scale = 0.125, check queries = 17 keys = 33 width = 5
__global__ void head_logits(const float *Q, const float *K, float *S, float scale, int queries,
                            int keys, int width) {
  int query = blockIdx.x * blockDim.x + threadIdx.x;
  int key = blockIdx.y * blockDim.y + threadIdx.y;
  if (query < queries && key < keys) {
    float s = 0.0f;
    for (int w = 0; w < width; w++) {
      s += Q[query * width + w] * K[key * width + w];
    }
    S[query * keys + key] = s * scale;
  }
}

void logits(const float *Q, const float *K, float *S, float scale, int queries, int keys,
            int width) {
  dim3 threads(16, 16);
  dim3 blocks((queries + 15) / 16, (keys + 15) / 16);
  head_logits<<<blocks, threads>>>(Q, K, S, scale, queries, keys, width);
}
