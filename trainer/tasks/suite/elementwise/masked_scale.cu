// Dropout with a mask of bytes that is given: kept values are divided by the share that is kept, in 32 threads a block.
// warpwright: total = 16000000, kept_share = 0.8, check total = 1 | total = 999
// warpwright: mask: in unsigned char[total] integers 0..2
__global__ void dropout_forward(const float *activations, const unsigned char *mask, float *dropped,
                                float kept_share, int total) {
  int at = blockDim.x * blockIdx.x + threadIdx.x;
  if (at < total)
    dropped[at] = mask[at] ? activations[at] / kept_share : 0.0;
}

void forward(const float *activations, const unsigned char *mask, float *dropped, float kept_share,
             int total) {
  int blocks = (total + 31) / 32;
  dropout_forward<<<blocks, 32>>>(activations, mask, dropped, kept_share, total);
}
