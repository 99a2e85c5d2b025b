// Layer normalisation of hidden states, each token by one thread in three walks, epsilon a double.
// warpwright: tokens = 8192, hidden = 512, check tokens = 3 hidden = 17
__global__ void ln_forward(float *out, const float *inp, const float *weight, const float *bias,
                           int tokens, int hidden) {
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= tokens)
    return;
  float mu = 0.0f;
  for (int h = 0; h < hidden; h++)
    mu += inp[token * hidden + h];
  mu /= hidden;
  float var = 0.0f;
  for (int h = 0; h < hidden; h++) {
    float centred = inp[token * hidden + h] - mu;
    var += centred * centred;
  }
  float inverse = 1.0 / sqrt(var / hidden + 1e-5);
  for (int h = 0; h < hidden; h++)
    out[token * hidden + h] = (inp[token * hidden + h] - mu) * inverse * weight[h] + bias[h];
}

void ln(float *out, const float *inp, const float *weight, const float *bias, int tokens,
        int hidden) {
  const int block = 64;
  ln_forward<<<(tokens + block - 1) / block, block>>>(out, inp, weight, bias, tokens, hidden);
}
