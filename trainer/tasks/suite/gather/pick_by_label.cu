// One score a row, picked by its label, with a factor of its class.
// warpwright: rows = 65536, classes = 256, check rows = 3 classes = 17
// warpwright: labels: in int[rows] integers 0..classes, scores: in float[rows * classes], factor: in float[classes]
__global__ void pick_by_label(const float *scores, const int *labels, const float *factor,
                              float *out, int rows, int classes) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows)
    out[row] = scores[row * classes + labels[row]] * factor[labels[row]];
}

void launch(const float *scores, const int *labels, const float *factor, float *out, int rows,
            int classes) {
  pick_by_label<<<(rows + 255) / 256, 256>>>(scores, labels, factor, out, rows, classes);
}
