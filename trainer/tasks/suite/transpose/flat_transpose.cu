// A transpose that knows one dimension only: the place in the output is taken apart by division and remainder.
// warpwright: R = 3000, C = 4000, check R = 17 C = 33
__global__ void flat_transpose(int R, int C, const double *M, double *T) {
  int o = blockIdx.x * blockDim.x + threadIdx.x;
  if (o >= R * C)
    return;
  int c = o / R, r = o % R;
  T[o] = M[r * C + c];
}

void transpose_on_gpu(int R, int C, const double *M, double *T) {
  int blocks = (R * C + 127) / 128;
  flat_transpose<<<blocks, 128>>>(R, C, M, T);
}
