// Mean of 3 x 3 pixels, border pixels taking what lies inside, nine loads a thread.
// warpwright: width = 1920, height = 1080, check width = 17 height = 5
__global__ void box_blur(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  float sum = 0.0f;
  int count = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      int xx = x + dx;
      int yy = y + dy;
      if (xx >= 0 && xx < width && yy >= 0 && yy < height) {
        sum += in[yy * width + xx];
        count++;
      }
    }
  out[y * width + x] = sum / count;
}

void launch(const float *in, float *out, int width, int height) {
  dim3 block(16, 16);
  dim3 grid((width + 15) / 16, (height + 15) / 16);
  box_blur<<<grid, block>>>(in, out, width, height);
}
