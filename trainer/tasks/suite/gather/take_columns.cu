// Chosen columns of a table, rows along the thread's x.
// warpwright: rows = 65536, cols = 256, taken = 64, check rows = 17 cols = 9 taken = 3
// warpwright: which: in int[taken] integers 0..cols, table: in float[rows * cols]
__global__ void take(const float *table, const int *which, float *view, int rows, int cols,
                     int taken) {
  auto row = blockIdx.x * blockDim.x + threadIdx.x;
  auto k = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && k < taken)
    view[row * taken + k] = table[row * cols + which[k]];
}

void take_columns(const float *table, const int *which, float *view, int rows, int cols,
                  int taken) {
  take<<<dim3((rows + 255) / 256, taken), dim3(256, 1)>>>(table, which, view, rows, cols, taken);
}
