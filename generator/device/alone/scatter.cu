// sm_80 sm_90a sm_100a sm_120
#include "../scatter.cuh"

using namespace warpwright_scatter;

template <typename T, int kCount> __device__ void add_some(T *to, const T *from) {
  T values[kCount];
  for (int i = 0; i < kCount; ++i)
    values[i] = from[i];
  add(to, values);
}

__global__ void floats(float *to, const float *from) { add_some<float, 4>(to, from); }
__global__ void doubles(double *to, const double *from) { add_some<double, 2>(to, from); }
__global__ void integers(int *to, const int *from) { add_some<int, 4>(to, from); }
__global__ void wide_integers(long long *to, const long long *from) { add_some<long long, 2>(to, from); }
__global__ void halves(__half *to, const __half *from) {
  add_some<__half, 1>(to, from);
  add_some<__half, 2>(to, from);
  add_some<__half, 4>(to, from);
  add_some<__half, 8>(to, from);
}
__global__ void bfloats(__nv_bfloat16 *to, const __nv_bfloat16 *from) {
  add_some<__nv_bfloat16, 1>(to, from);
  add_some<__nv_bfloat16, 2>(to, from);
  add_some<__nv_bfloat16, 4>(to, from);
  add_some<__nv_bfloat16, 8>(to, from);
}
