// Grey values of an image of packed RGB bytes: three byte loads of stride three a thread, a 2D block.
// warpwright: width = 1920, height = 1080, check width = 5 height = 3
__global__ void rgb_to_gray(const unsigned char *rgb, unsigned char *gray, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    int i = y * width + x;
    float value = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
    gray[i] = (unsigned char)value;
  }
}

void launch(const unsigned char *rgb, unsigned char *gray, int width, int height) {
  dim3 block(8, 8);
  dim3 grid((width + 7) / 8, (height + 7) / 8);
  rgb_to_gray<<<grid, block>>>(rgb, gray, width, height);
}
