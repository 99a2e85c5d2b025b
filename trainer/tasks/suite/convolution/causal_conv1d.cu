// A causal depthwise convolution of four taps along time, as state-space models have it, with SiLU.
// warpwright: channels = 1024, steps = 2048, check channels = 3 steps = 5
__global__ void causal_conv1d(const float *x, const float *w, const float *bias, float *y,
                              int channels, int steps) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y;
  if (t >= steps)
    return;
  float sum = bias[c];
  for (int k = 0; k < 4; k++)
    if (t + k - 3 >= 0)
      sum += w[c * 4 + k] * x[c * steps + t + k - 3];
  y[c * steps + t] = sum / (1.0f + expf(-sum));
}

void launch(const float *x, const float *w, const float *bias, float *y, int channels, int steps) {
  dim3 grid((steps + 127) / 128, channels);
  causal_conv1d<<<grid, 128>>>(x, w, bias, y, channels, steps);
}
