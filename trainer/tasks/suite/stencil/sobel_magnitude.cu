// Strength of edges by Sobel's operator on byte images, clamped at the border.
// warpwright: width = 1920, height = 1080, check width = 17 height = 5
__global__ void sobel_magnitude(const unsigned char *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  int x0 = max(x - 1, 0), x1 = min(x + 1, width - 1);
  int y0 = max(y - 1, 0), y1 = min(y + 1, height - 1);
  float gx = in[y0 * width + x1] + 2.0f * in[y * width + x1] + in[y1 * width + x1] -
             in[y0 * width + x0] - 2.0f * in[y * width + x0] - in[y1 * width + x0];
  float gy = in[y1 * width + x0] + 2.0f * in[y1 * width + x] + in[y1 * width + x1] -
             in[y0 * width + x0] - 2.0f * in[y0 * width + x] - in[y0 * width + x1];
  out[y * width + x] = sqrtf(gx * gx + gy * gy);
}

void launch(const unsigned char *in, float *out, int width, int height) {
  dim3 block(32, 4);
  dim3 grid((width + 31) / 32, (height + 3) / 4);
  sobel_magnitude<<<grid, block>>>(in, out, width, height);
}
