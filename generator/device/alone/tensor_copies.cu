// sm_90a
#include "../tensor_copies.cuh"

__global__ void copy_box(const __grid_constant__ warpwright_tensor::Map map, unsigned long long *descriptor) {
  __shared__ alignas(1024) unsigned char tile[1024];
  __shared__ unsigned long long barrier;
  const unsigned full = warpwright_tensor::shared_address(&barrier);
  if (threadIdx.x == 0) {
    warpwright_tensor::expect(full, 1024);
    warpwright_tensor::copy(warpwright_tensor::shared_address(tile), map, 0, 0, 0, 0, full);
  }
  warpwright_tensor::wait(full, 0);
  warpwright_tensor::release(full);
  *descriptor = warpwright_tensor::descriptor(warpwright_tensor::shared_address(tile), 16);
}
