// Peak of each column of a matrix by rows, a block a column: the threads of a warp read 32 rows at a time, a row apart.
// warpwright: samples = 2048, channels = 1024, check samples = 300 channels = 3
__global__ void column_peak(const float *record, float *peak, int samples, int channels) {
  __shared__ float best[256];
  int t = threadIdx.x;
  float mine = -1e30f;
  for (int s = t; s < samples; s += 256)
    mine = fmaxf(mine, record[s * channels + blockIdx.x]);
  best[t] = mine;
  __syncthreads();
  for (int w = 128; w >= 1; w /= 2) {
    if (t < w)
      best[t] = fmaxf(best[t], best[t + w]);
    __syncthreads();
  }
  if (t == 0)
    peak[blockIdx.x] = best[0];
}

void find_peaks(const float *record, float *peak, int samples, int channels) {
  column_peak<<<channels, 256>>>(record, peak, samples, channels);
}
