// Derivative along each line of measurements by central differences of fourth order, lines along the thread's x.
// warpwright: lines = 4096, samples = 2048, step = 0.01, check lines = 3 samples = 17
// warpwright: height: in float[lines * (samples + 4)]
__global__ void slope(const float *height, float *derivative, float step, int lines, int samples) {
  int line = blockIdx.x * blockDim.x + threadIdx.x;
  int s = blockIdx.y * blockDim.y + threadIdx.y;
  if (line < lines && s < samples) {
    int centre = line * (samples + 4) + s + 2;
    float near = height[centre + 1] - height[centre - 1];
    float far = height[centre + 2] - height[centre - 2];
    derivative[line * samples + s] = (8.0 * near - far) / (12.0 * step);
  }
}

void slopes(const float *height, float *derivative, float step, int lines, int samples) {
  dim3 t(32, 8);
  slope<<<dim3((lines + 31) / 32, (samples + 7) / 8), t>>>(height, derivative, step, lines,
                                                           samples);
}
