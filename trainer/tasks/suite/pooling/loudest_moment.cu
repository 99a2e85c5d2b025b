// Loudest sample of each recording, a recording a thread, found with an if.
// warpwright: recordings = 8192, samples = 1024, check recordings = 3 samples = 17
__global__ void loudest(const float *sound, float *peak, int recordings, int samples) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < recordings) {
    float best = 0.0f;
    for (int s = 0; s < samples; s++) {
      float level = fabsf(sound[r * samples + s]);
      if (level > best)
        best = level;
    }
    peak[r] = best;
  }
}

void find_loudest(const float *sound, float *peak, int recordings, int samples) {
  loudest<<<(recordings + 127) / 128, 128>>>(sound, peak, recordings, samples);
}
