// A dense layer with bias and GELU, weights by outputs; the approximation's constants are doubles.
// warpwright: samples = 2048, units = 1024, width = 512, check samples = 17 units = 33 width = 5
__global__ void dense_gelu(const float *x, const float *w, const float *b, float *y, int samples,
                           int units, int width) {
  int unit = blockIdx.x * blockDim.x + threadIdx.x;
  int sample = blockIdx.y * blockDim.y + threadIdx.y;
  if (sample >= samples || unit >= units)
    return;
  float z = 0.0f;
  for (int i = 0; i < width; i++)
    z += x[sample * width + i] * w[unit * width + i];
  z += b[unit];
  y[sample * units + unit] = z / (1.0 + exp(-1.702 * z));
}

void dense_layer(const float *x, const float *w, const float *b, float *y, int samples, int units,
                 int width) {
  dim3 threads_per_block(16, 16);
  dim3 number_of_blocks((units + 15) / 16, (samples + 15) / 16);
  dense_gelu<<<number_of_blocks, threads_per_block>>>(x, w, b, y, samples, units, width);
}
