// A matrix transposed by 16 x 16 blocks, writing a column apart.
// warpwright: rows = 4096, cols = 2048, check rows = 17 cols = 33
__global__ void transpose(const float *in, float *out, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < cols && y < rows)
    out[x * rows + y] = in[y * cols + x];
}

void launch(const float *in, float *out, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + 15) / 16, (rows + 15) / 16);
  transpose<<<grid, block>>>(in, out, rows, cols);
}
