// sm_90a sm_100a sm_120
#include "../scatter_vectors.cuh"

using namespace warpwright_scatter;

__global__ void floats(float *to, const float *from) {
  const float two[2] = {from[0], from[1]}, four[4] = {from[0], from[1], from[2], from[3]};
  add_vector(to, two);
  add_vector(to + 4, four);
}
__global__ void halves(__half *to, const __half *from, __nv_bfloat16 *wide_to, const __nv_bfloat16 *wide_from) {
  const __half four[4] = {from[0], from[1], from[2], from[3]};
  __nv_bfloat16 eight[8];
  for (int i = 0; i < 8; ++i)
    eight[i] = wide_from[i];
  add_vector(to, four);
  add_vector(wide_to, eight);
}
