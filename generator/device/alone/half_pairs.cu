// sm_80 sm_90a sm_100a sm_120
#include "../half_pairs.cuh"

__global__ void half_pairs(const float *values, const unsigned *largest, unsigned short *high,
                           unsigned short *low, warpwright_split::RowScale *scale, float *back) {
  const int i = threadIdx.x;
  const int small = warpwright_split::split_any(values[i], *largest, high[i], low[i]);
  scale[i] = warpwright_split::scale_of(*largest, small);
  warpwright_split::value_of(values[i], scale[i].shift, scale[i].doubt, back[i]);
}
