// A matrix by columns, as Fortran leaves it, copied by rows in other units; the thread's y runs along what is read in order.
// warpwright: lines = 4096, fields = 2048, unit = 0.001, check lines = 17 fields = 33
__global__ void by_rows(const float *fortran, float *c, float unit, int lines, int fields) {
  int field = blockIdx.x * blockDim.x + threadIdx.x;
  int line = blockIdx.y * blockDim.y + threadIdx.y;
  if (line >= lines || field >= fields)
    return;
  c[line * fields + field] = fortran[field * lines + line] * unit;
}

void import_matrix(const float *fortran, float *c, float unit, int lines, int fields) {
  dim3 g((fields + 7) / 8, (lines + 7) / 8);
  by_rows<<<g, dim3(8, 8)>>>(fortran, c, unit, lines, fields);
}
