// Cross entropy of one row of logits a block, 512 threads, with a tree for the maximum and one for the sum.
// warpwright: tokens = 4096, words = 4096, check tokens = 3 words = 77
// warpwright: answer: in int[tokens] integers 0..words, logit: in float[tokens * words]
__global__ void token_loss(const float *logit, const int *answer, float *loss, int tokens,
                           int words) {
  __shared__ float pool[512];
  int tid = threadIdx.x, token = blockIdx.x;
  float top = -1e30f;
  for (int w = tid; w < words; w += blockDim.x)
    top = fmaxf(top, logit[token * words + w]);
  pool[tid] = top;
  __syncthreads();
  for (int r = 256; r > 0; r >>= 1) {
    if (tid < r)
      pool[tid] = fmaxf(pool[tid], pool[tid + r]);
    __syncthreads();
  }
  top = pool[0];
  __syncthreads();
  float mass = 0;
  for (int w = tid; w < words; w += blockDim.x)
    mass += expf(logit[token * words + w] - top);
  pool[tid] = mass;
  __syncthreads();
  for (int r = 256; r > 0; r >>= 1) {
    if (tid < r)
      pool[tid] += pool[tid + r];
    __syncthreads();
  }
  if (tid == 0)
    loss[token] = logf(pool[0]) + top - logit[token * words + answer[token]];
}

void token_losses(const float *logit, const int *answer, float *loss, int tokens, int words) {
  token_loss<<<tokens, 512>>>(logit, answer, loss, tokens, words);
}
