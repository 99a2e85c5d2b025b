// Pressure of a sound wave in a room with soft walls, by leapfrog into the older field; x of the thread is the middle index.
// warpwright: nx = 160, ny = 160, nz = 160, check nx = 5 ny = 3 nz = 17
__global__ void leapfrog(const float *p, float *older, int nx, int ny, int nz) {
  int i = blockIdx.z;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int k = blockIdx.y * blockDim.y + threadIdx.y;
  if (j >= ny || k >= nz)
    return;
  int at = (i * ny + j) * nz + k;
  float around = -6.0f * p[at];
  if (i > 0)
    around += p[at - ny * nz];
  if (i < nx - 1)
    around += p[at + ny * nz];
  if (j > 0)
    around += p[at - nz];
  if (j < ny - 1)
    around += p[at + nz];
  if (k > 0)
    around += p[at - 1];
  if (k < nz - 1)
    around += p[at + 1];
  older[at] = 2.0f * p[at] - older[at] + 0.15f * around;
}

void sound(const float *p, float *older, int nx, int ny, int nz) {
  dim3 cells(32, 4);
  dim3 rooms((ny + 31) / 32, (nz + 3) / 4, nx);
  leapfrog<<<rooms, cells>>>(p, older, nx, ny, nz);
}
