// Gradient of the Huber loss, element by element, with branches.
// warpwright: n = 8000000, delta = 1.0, check n = 1 | n = 1000
__global__ void huber_gradient(const float *x, const float *target, float *gradient, float delta,
                               int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float d = x[i] - target[i];
    float g;
    if (d > delta)
      g = delta;
    else if (d < -delta)
      g = -delta;
    else
      g = d;
    gradient[i] = g / n;
  }
}

void launch(const float *x, const float *target, float *gradient, float delta, int n) {
  huber_gradient<<<(n + 255) / 256, 256>>>(x, target, gradient, delta, n);
}
