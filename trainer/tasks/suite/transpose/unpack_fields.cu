// Records of four floats taken apart into four arrays: loads of stride four.
// warpwright: n = 4000000, check n = 1 | n = 257
__global__ void unpack_fields(const float *records, float *a, float *b, float *c, float *d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    a[i] = records[4 * i];
    b[i] = records[4 * i + 1];
    c[i] = records[4 * i + 2];
    d[i] = records[4 * i + 3];
  }
}

void launch(const float *records, float *a, float *b, float *c, float *d, int n) {
  unpack_fields<<<(n + 255) / 256, 256>>>(records, a, b, c, d, n);
}
