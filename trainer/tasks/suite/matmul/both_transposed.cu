// Product of two matrices that both lie transposed, with a leaky ReLU at the end.
// warpwright: p = 640, q = 960, r = 768, check p = 17 q = 33 r = 5
__global__ void tt_product(const float *left, const float *right, float *result, int p, int q,
                           int r) {
  int v = threadIdx.x + blockIdx.x * blockDim.x;
  int u = threadIdx.y + blockIdx.y * blockDim.y;
  if (u < p && v < q) {
    float dot = 0.0f;
    for (int l = 0; l < r; ++l) {
      float a = left[l * p + u];
      float b = right[v * r + l];
      dot = dot + a * b;
    }
    result[u * q + v] = dot > 0.0f ? dot : 0.01f * dot;
  }
}

void multiply(const float *left, const float *right, float *result, int p, int q, int r) {
  const int side = 8;
  tt_product<<<dim3((q + side - 1) / side, (p + side - 1) / side), dim3(side, side)>>>(
      left, right, result, p, q, r);
}
