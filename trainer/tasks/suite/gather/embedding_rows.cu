// Embedding vectors of 128 values fetched by token, one thread a value.
// warpwright: tokens = 32768, words = 32000, check tokens = 3 words = 10
// warpwright: ids: in int[tokens] integers 0..words, table: in float[words * 128]
__global__ void embedding_rows(const float *table, const int *ids, float *out, int tokens) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < tokens * 128)
    out[i] = table[ids[i / 128] * 128 + i % 128];
}

void launch(const float *table, const int *ids, float *out, int tokens, int words) {
  embedding_rows<<<(tokens * 128 + 255) / 256, 256>>>(table, ids, out, tokens);
}
