// sm_80 sm_90a sm_100a sm_120
#include "../thin.cuh"

template <typename T> __device__ void both(const T *wide, const T *thin, T *out) {
  const auto of_wide = [&](int row, int k, T (&values)[4]) {
    for (int i = 0; i < 4; ++i)
      values[i] = wide[row * 512 + k + i];
  };
  const auto of_thin = [&](int row, int k, T (&values)[4]) {
    for (int i = 0; i < 4; ++i)
      values[i] = thin[row * 512 + k + i];
  };
  const auto one = [&](int row, int k, T (&values)[1]) { values[0] = thin[row * 512 + k]; };
  const auto store = [&](int row, int column, T value) { out[row * 4 + column] = value; };
  warpwright_thin::rows_along_k<T, 4, 2, 4, 2, 4, 4>(64, 0, 0, 512, of_wide, of_thin, store);
  warpwright_thin::rows_across_k<T, 4, 4, 4>(64, 0, 0, 512, of_wide, one, store);
}

__global__ void thin_float(const float *wide, const float *thin, float *out) { both(wide, thin, out); }
__global__ void thin_double(const double *wide, const double *thin, double *out) { both(wide, thin, out); }
