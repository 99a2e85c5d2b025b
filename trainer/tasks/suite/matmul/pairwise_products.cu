// Kernel matrix of a support vector machine, (x . y / width + 1) to the third power, one thread a pair.
// warpwright: points = 1024, centres = 768, width = 128, check points = 17 centres = 9 width = 5
__global__ void polynomial_kernel(const float *x, const float *y, float *k, int points, int centres,
                                  int width) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (p < points && c < centres) {
    float inner = 0.0f;
    for (int f = 0; f < width; f++)
      inner += x[p * width + f] * y[c * width + f];
    float base = inner / width + 1.0f;
    k[p * centres + c] = base * base * base;
  }
}

void kernel_matrix(const float *x, const float *y, float *k, int points, int centres, int width) {
  dim3 b(16, 8);
  polynomial_kernel<<<dim3((points + 15) / 16, (centres + 7) / 8), b>>>(x, y, k, points, centres,
                                                                        width);
}
