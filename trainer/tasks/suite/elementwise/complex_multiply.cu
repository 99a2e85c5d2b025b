// Products of complex numbers that lie interleaved: four scalar loads and two scalar stores a thread, each of stride two.
// warpwright: n = 4000000, check n = 1 | n = 777
__global__ void complex_multiply(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    c[2 * i] = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
    c[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
  }
}

void launch(const float *a, const float *b, float *c, int n) {
  complex_multiply<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
