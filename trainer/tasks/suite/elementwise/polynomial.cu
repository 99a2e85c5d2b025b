// A polynomial of degree four with powf for every power, as it is written on paper.
// warpwright: n = 4000000, check n = 1 | n = 999
// warpwright: x: uniform
__global__ void polynomial(const float *x, const float *coefficients, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = coefficients[0];
    for (int k = 1; k < 5; k++)
      sum += coefficients[k] * powf(x[i], (float)k);
    y[i] = sum;
  }
}

void launch(const float *x, const float *coefficients, float *y, int n) {
  polynomial<<<(n + 255) / 256, 256>>>(x, coefficients, y, n);
}
