// A 1 x 1 convolution of images with channels last, bias and ReLU6: a thread for each channel of a pixel, pixels along x.
// warpwright: pixels = 12544, outputs = 128, inputs = 64, check pixels = 17 outputs = 5 inputs = 3
__global__ void mix_channels(const float *image, const float *mixing, const float *bias,
                             float *mixed, int pixels, int outputs, int inputs) {
  int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  int o = blockIdx.y * blockDim.y + threadIdx.y;
  if (pixel >= pixels || o >= outputs)
    return;
  float value = 0.0f;
  for (int i = 0; i < inputs; i++)
    value += image[pixel * inputs + i] * mixing[i * outputs + o];
  mixed[pixel * outputs + o] = fminf(fmaxf(value + bias[o], 0.0f), 6.0f);
}

void mix(const float *image, const float *mixing, const float *bias, float *mixed, int pixels,
         int outputs, int inputs) {
  dim3 grid((pixels + 15) / 16, (outputs + 15) / 16), block(16, 16);
  mix_channels<<<grid, block>>>(image, mixing, bias, mixed, pixels, outputs, inputs);
}
