// Exclusive prefix sums of counts, one thread an element that adds up all before it: quadratic work.
// warpwright: rows = 1024, cols = 512, check rows = 3 cols = 17
// warpwright: counts: in int[rows * cols] integers 0..9
__global__ void exclusive_offsets(const int *counts, int *offsets, int rows, int cols) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y;
  if (j >= cols)
    return;
  int sum = 0;
  for (int k = 0; k < j; k++)
    sum += counts[row * cols + k];
  offsets[row * cols + j] = sum;
}

void launch(const int *counts, int *offsets, int rows, int cols) {
  dim3 grid((cols + 127) / 128, rows);
  exclusive_offsets<<<grid, 128>>>(counts, offsets, rows, cols);
}
