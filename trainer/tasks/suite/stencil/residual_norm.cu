// Squared residual of Laplace's equation in one dimension, added up with an atomic from every cell.
// warpwright: cells = 1000000, check cells = 1 | cells = 1000, fill residual = 0
// warpwright: u: in float[cells + 2]
__global__ void laplace_residual(const float *u, float *residual, int cells) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < cells) {
    float r = u[i] - 2.0f * u[i + 1] + u[i + 2];
    atomicAdd(residual, r * r);
  }
}

void residual_of(const float *u, float *residual, int cells) {
  cudaMemset(residual, 0, sizeof(float));
  laplace_residual<<<(cells + 127) / 128, 128>>>(u, residual, cells);
}
