// sm_80 sm_90a sm_100a sm_120
#include "../tile_simt.cuh"

template <typename T, bool kAlongA> __device__ void product(const T *a, const T *b, T *c) {
  const auto of = [](const T *from) {
    return [from](int row, int k, T (&values)[4]) {
      for (int i = 0; i < 4; ++i)
        values[i] = from[row * 64 + k + i];
    };
  };
  const auto store = [&](int row, int column, const T (&values)[4]) { c[row * 64 + column] = values[0]; };
  warpwright_simt::Tile<T, 64, 64, 8, 8, 4, kAlongA, 4, false, 4>::template run<4>(0, 64, 0, 64, 0, 64, of(a), of(b), store);
}

__global__ void tile_float(const float *a, const float *b, float *c) { product<float, true>(a, b, c); }
__global__ void tile_double(const double *a, const double *b, double *c) { product<double, false>(a, b, c); }
__global__ void tile_integers(const long long *a, const long long *b, long long *c) { product<long long, true>(a, b, c); }
