// sm_80 sm_90a sm_100a sm_120
#include "../rows.cuh"
#include "../row_gangs.cuh"

using namespace warpwright_rows;

__global__ void row_gangs(const float *from, float *to, Moments<float> *partials, unsigned *arrived) {
  __shared__ Moments<float> scratch[8];
  Moments<float> mine = Moments<float>::identity();
  const float x[1] = {from[blockIdx.x * 256 + threadIdx.x]};
  const bool valid[1] = {true};
  mine.add<1>(x, valid);
  mine = reduce_gang<256, 16>(mine, scratch, partials, static_cast<int>(blockIdx.x), arrived);
  to[blockIdx.x] = mine.mean;
}
