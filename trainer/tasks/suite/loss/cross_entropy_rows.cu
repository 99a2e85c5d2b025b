// Cross entropy of each row against its label, one thread a row, two passes.
// warpwright: rows = 8192, classes = 1000, check rows = 3 classes = 17
// warpwright: labels: in int[rows] integers 0..classes
// warpwright: scores: in float[rows * classes]
__global__ void cross_entropy_rows(const float *scores, const int *labels, float *loss, int rows,
                                   int classes) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float largest = -3.0e38f;
  for (int j = 0; j < classes; j++)
    largest = fmaxf(largest, scores[row * classes + j]);
  float sum = 0.0f;
  for (int j = 0; j < classes; j++)
    sum += expf(scores[row * classes + j] - largest);
  loss[row] = logf(sum) + largest - scores[row * classes + labels[row]];
}

void launch(const float *scores, const int *labels, float *loss, int rows, int classes) {
  cross_entropy_rows<<<(rows + 127) / 128, 128>>>(scores, labels, loss, rows, classes);
}
