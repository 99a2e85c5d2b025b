// A step of the heat equation in a cube, seven points, one thread a cell and no reuse along z.
// warpwright: side = 192, check side = 5
__global__ void heat_volume(const float *u, float *next, int side, float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z;
  if (x >= side || y >= side)
    return;
  int plane = side * side;
  int i = z * plane + y * side + x;
  float centre = u[i];
  float sum = 0.0f;
  sum += (x > 0 ? u[i - 1] : centre) - centre;
  sum += (x < side - 1 ? u[i + 1] : centre) - centre;
  sum += (y > 0 ? u[i - side] : centre) - centre;
  sum += (y < side - 1 ? u[i + side] : centre) - centre;
  sum += (z > 0 ? u[i - plane] : centre) - centre;
  sum += (z < side - 1 ? u[i + plane] : centre) - centre;
  next[i] = centre + rate * sum;
}

void launch(const float *u, float *next, int side) {
  dim3 block(16, 16);
  dim3 grid((side + 15) / 16, (side + 15) / 16, side);
  heat_volume<<<grid, block>>>(u, next, side, 0.1f);
}
