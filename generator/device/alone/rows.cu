// sm_80 sm_90a sm_100a sm_120
#include "../rows.cuh"

using namespace warpwright_rows;

template <class A, class T> __device__ A accumulated(const T *from) {
  __shared__ A scratch[8];
  T x[8];
  load(from + threadIdx.x * 8, x);
  const bool valid[2] = {threadIdx.x < 200, threadIdx.x < 100};
  A mine = A::identity();
  mine.template add<4>(x, valid);
  return reduce_neighbours<64, 256>(mine, scratch);
}

template <class T> __device__ void all_of(const T *from, T *to) {
  T results[8] = {};
  results[0] = accumulated<Sum<T>>(from).value;
  results[1] = accumulated<Product<T>>(from).value;
  results[2] = accumulated<Maximum<T>>(from).value;
  results[3] = accumulated<Minimum<T>>(from).value;
  results[4] = accumulated<Any<bool>>(from).value;
  results[5] = accumulated<All<bool>>(from).value;
  store(to, results);
}

template <class T> __device__ void floating(const T *from, T *to, long long *position) {
  all_of(from, to);
  to[8] = accumulated<Moments<T>>(from).squares;
  to[9] = accumulated<ExponentialSum<T, true>>(from).sum;
  to[10] = accumulated<ExponentialSum<T, false>>(from).sum;
  __shared__ Position<T, true> scratch[4 * 2 * 64];
  Position<T, true> best[2] = {Position<T, true>::identity(), Position<T, true>::identity()};
  const T x[1] = {from[threadIdx.x]};
  const bool valid[1] = {true};
  const int at[1] = {static_cast<int>(threadIdx.x)};
  best[0].template add<1>(x, valid, at);
  reduce_columns<4, 64, 2>(best, scratch);
  *position = best[0].index;
}

__global__ void rows_float(const float *from, float *to, long long *position) { floating(from, to, position); }
__global__ void rows_double(const double *from, double *to, long long *position) { floating(from, to, position); }
__global__ void rows_int(const int *from, int *to) { all_of(from, to); }
__global__ void rows_long(const long long *from, long long *to) { all_of(from, to); }
