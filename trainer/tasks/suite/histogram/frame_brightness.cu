// Brightness of a video frame in 256 levels, a 2D grid with x down the frame and weights in double.
// warpwright: down = 2160, across = 3840, check down = 5 across = 17, fill level = 0
// warpwright: red: uniform, green: uniform, blue: uniform, level: inout int[256]
__global__ void brightness(const float *red, const float *green, const float *blue, int *level,
                           int down, int across) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < down && j < across) {
    float grey =
        0.25 * red[i * across + j] + 0.5 * green[i * across + j] + 0.25 * blue[i * across + j];
    atomicAdd(&level[(int)fminf(grey * 255.0, 255.0)], 1);
  }
}

void measure(const float *red, const float *green, const float *blue, int *level, int down,
             int across) {
  cudaMemset(level, 0, 256 * sizeof(int));
  dim3 threads(16, 16);
  dim3 blocks((down + 15) / 16, (across + 15) / 16);
  brightness<<<blocks, threads>>>(red, green, blue, level, down, across);
}
