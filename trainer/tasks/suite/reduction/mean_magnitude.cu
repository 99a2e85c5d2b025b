// Mean magnitude of every series, one thread a series; the mean is taken with a double by accident.
// warpwright: series = 16384, length = 512, check series = 3 length = 17
__global__ void mean_magnitude(const float *values, float *means, int series, int length) {
  unsigned int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s < series) {
    float total = 0;
    for (int t = 0; t < length; t++)
      total += fabsf(values[s * length + t]);
    means[s] = total * (1.0 / length);
  }
}

void mean_magnitudes(const float *values, float *means, int series, int length) {
  const dim3 block(256);
  const dim3 grid((series + 255) / 256);
  mean_magnitude<<<grid, block>>>(values, means, series, length);
}
