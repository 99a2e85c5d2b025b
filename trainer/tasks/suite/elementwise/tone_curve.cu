// Encoded image values made linear, with constants that are doubles by accident, and x and y swapped.
// warpwright: height = 1080, width = 1920, check height = 3 width = 17
// warpwright: encoded: uniform
__global__ void to_linear(const float *encoded, float *linear, int height, int width) {
  const int r = blockDim.x * blockIdx.x + threadIdx.x;
  const int c = blockDim.y * blockIdx.y + threadIdx.y;
  if (r < height && c < width) {
    const float v = encoded[r * width + c];
    linear[r * width + c] =
        v <= 0.04045 ? v / 12.92 : 0.012522 + v * (0.305306 * v * v + 0.682171 * v);
  }
}

void run_to_linear(const float *encoded, float *linear, int height, int width) {
  dim3 threads(16, 16, 1);
  dim3 blocks((height + threads.x - 1) / threads.x, (width + threads.y - 1) / threads.y, 1);
  to_linear<<<blocks, threads>>>(encoded, linear, height, width);
}
