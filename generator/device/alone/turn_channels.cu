// sm_80 sm_90a sm_100a sm_120
#include "../turn_channels.cuh"

__global__ void __launch_bounds__(256) turned(const float *from, const float *factors, float *to) {
  __shared__ float tile[4096];
  warpwright_turn::turn<256>(from, factors, to, 64, 64, 9, 7, 64, blockIdx.x, tile);
}
