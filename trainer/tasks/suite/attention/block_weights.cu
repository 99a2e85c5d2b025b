// Weights of one query a block: the logits' maximum and sum by trees of 256 threads, exponentials computed twice.
// warpwright: queries = 4096, keys = 1024, sharpness = 0.125, check queries = 3 keys = 77
__global__ void query_weights(const float *logits, float *weights, float sharpness, int queries,
                              int keys) {
  __shared__ float shared[256];
  const int id = threadIdx.x;
  const int offset = blockIdx.x * keys;
  float peak = -3e38f;
  for (int k = id; k < keys; k += 256)
    peak = fmaxf(peak, sharpness * logits[offset + k]);
  shared[id] = peak;
  __syncthreads();
  for (int n = 128; n > 0; n >>= 1) {
    if (id < n)
      shared[id] = fmaxf(shared[id], shared[id + n]);
    __syncthreads();
  }
  peak = shared[0];
  __syncthreads();
  float norm = 0.0f;
  for (int k = id; k < keys; k += 256)
    norm += expf(sharpness * logits[offset + k] - peak);
  shared[id] = norm;
  __syncthreads();
  for (int n = 128; n > 0; n >>= 1) {
    if (id < n)
      shared[id] += shared[id + n];
    __syncthreads();
  }
  for (int k = id; k < keys; k += 256)
    weights[offset + k] = expf(sharpness * logits[offset + k] - peak) / shared[0];
}

void weigh(const float *logits, float *weights, float sharpness, int queries, int keys) {
  query_weights<<<queries, 256>>>(logits, weights, sharpness, queries, keys);
}
