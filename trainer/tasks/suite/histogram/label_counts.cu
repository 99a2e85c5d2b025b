// Counts of 16 labels for each row, one thread an element, counters of a row in global memory.
// warpwright: rows = 2048, cols = 2048, check rows = 3 cols = 17, fill counts = 0
// warpwright: labels: in int[rows * cols] integers 0..16, counts: inout int[rows * 16]
__global__ void label_counts(const int *labels, int *counts, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols)
    atomicAdd(&counts[(i / cols) * 16 + labels[i]], 1);
}

void launch(const int *labels, int *counts, int rows, int cols) {
  cudaMemset(counts, 0, rows * 16 * sizeof(int));
  label_counts<<<(rows * cols + 255) / 256, 256>>>(labels, counts, rows, cols);
}
