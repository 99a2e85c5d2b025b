// Sentence vectors: the mean of all token vectors, a block for each feature, which strides through tokens a vector apart.
// warpwright: tokens = 16384, features = 768, check tokens = 300 features = 3
__global__ void sentence_vector(const float *token, float *sentence, int tokens, int features) {
  __shared__ float part[128];
  const int me = threadIdx.x, feature = blockIdx.x;
  float sum = 0.f;
  for (int t = me; t < tokens; t += 128)
    sum += token[t * features + feature];
  part[me] = sum;
  __syncthreads();
  for (int n = 64; n > 0; n >>= 1) {
    if (me < n)
      part[me] += part[me + n];
    __syncthreads();
  }
  if (me == 0)
    sentence[feature] = part[0] / tokens;
}

void pool(const float *token, float *sentence, int tokens, int features) {
  sentence_vector<<<features, 128>>>(token, sentence, tokens, features);
}
