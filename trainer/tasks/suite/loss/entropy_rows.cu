// Entropy of rows of probabilities, in bits by a double constant, one thread a row.
// warpwright: rows = 8192, outcomes = 400, check rows = 3 outcomes = 17
// warpwright: chance: in float[rows * outcomes] positive
__global__ void entropy(const float *chance, float *bits, int rows, int outcomes) {
  int r = threadIdx.x + blockIdx.x * blockDim.x;
  if (r < rows) {
    float h = 0.0f;
    for (int o = 0; o < outcomes; o++) {
      float p = chance[r * outcomes + o];
      h += p * logf(p + 1e-9);
    }
    bits[r] = -h * 1.44269504;
  }
}

void row_entropies(const float *chance, float *bits, int rows, int outcomes) {
  entropy<<<(rows + 127) / 128, 128>>>(chance, bits, rows, outcomes);
}
