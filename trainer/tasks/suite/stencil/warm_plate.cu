// Heat on a plate whose border is held: five points, with x of the thread down the plate and a double factor.
// warpwright: rows = 4096, cols = 4096, check rows = 5 cols = 17
__global__ void warm(const float *now, float *later, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols)
    return;
  float here = now[r * cols + c];
  if (r > 0 && c > 0 && r < rows - 1 && c < cols - 1)
    later[r * cols + c] = here + 0.2 * (now[(r - 1) * cols + c] + now[(r + 1) * cols + c] +
                                        now[r * cols + c - 1] + now[r * cols + c + 1] - 4.0 * here);
  else
    later[r * cols + c] = here;
}

void advance(const float *now, float *later, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((rows + 15) / 16, (cols + 15) / 16);
  warm<<<grid, block>>>(now, later, rows, cols);
}
