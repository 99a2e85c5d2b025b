// sm_90a sm_100a sm_120
#include "../scatter_vectors.cuh"

using namespace warpwright_scatter;

__global__ void floats(float *to, const float *from) {
  const float two[2] = {from[0], from[1]}, four[4] = {from[0], from[1], from[2], from[3]};
  add_vector(to, two);
  add_vector(to + 4, four);
}
