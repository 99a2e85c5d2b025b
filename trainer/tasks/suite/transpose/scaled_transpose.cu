// Transpose with a factor a column, through a shared tile of 32 x 32 whose columns collide in the banks.
// warpwright: rows = 2048, cols = 4096, check rows = 17 cols = 33
__global__ void scaled_transpose(const float *in, const float *factor, float *out, int rows,
                                 int cols) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  if (x < cols && y < rows)
    tile[threadIdx.y][threadIdx.x] = in[y * cols + x] * factor[x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  if (x < rows && y < cols)
    out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

void launch(const float *in, const float *factor, float *out, int rows, int cols) {
  dim3 block(32, 32);
  dim3 grid((cols + 31) / 32, (rows + 31) / 32);
  scaled_transpose<<<grid, block>>>(in, factor, out, rows, cols);
}
