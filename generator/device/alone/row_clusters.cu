// sm_90a sm_100a sm_120
#include "../rows.cuh"
#include "../row_clusters.cuh"

using namespace warpwright_rows;

__global__ void __cluster_dims__(4) row_clusters(const float *from, float *to) {
  __shared__ Moments<float> scratch[9];
  Moments<float> mine = Moments<float>::identity();
  const float x[1] = {from[blockIdx.x * 256 + threadIdx.x]};
  const bool valid[1] = {true};
  mine.add<1>(x, valid);
  mine = reduce_cluster<256, 4>(mine, scratch);
  to[cluster_rank()] = mine.mean;
  cluster_arrive();
  cluster_wait();
}
