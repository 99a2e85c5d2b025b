// Means of 16 embedding vectors of 64 values a bag, one thread a bag: each thread walks whole vectors.
// warpwright: bags = 4096, words = 50000, check bags = 3 words = 10
// warpwright: ids: in int[bags * 16] integers 0..words, table: in float[words * 64]
__global__ void bag_mean(const float *table, const int *ids, float *out, int bags) {
  int bag = blockIdx.x * blockDim.x + threadIdx.x;
  if (bag >= bags)
    return;
  for (int d = 0; d < 64; d++) {
    float sum = 0.0f;
    for (int k = 0; k < 16; k++)
      sum += table[ids[bag * 16 + k] * 64 + d];
    out[bag * 64 + d] = sum / 16.0f;
  }
}

void launch(const float *table, const int *ids, float *out, int bags, int words) {
  bag_mean<<<(bags + 63) / 64, 64>>>(table, ids, out, bags);
}
