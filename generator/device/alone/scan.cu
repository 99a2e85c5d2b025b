// sm_80 sm_90a sm_100a sm_120
#include "../scan.cuh"

using namespace warpwright_scan;

template <typename T, typename Operator, int kWide> struct ScanConfig {
  using Value = T;
  using Join = Operator;
  static constexpr int kThreads = 128, kItems = 4, kVector = kWide, kPieces = 2, kPiece = 1024, kLength = 2000;
  static constexpr int kColumns = 32, kInner = 100, kColumnBlocks = 4, kGroup = 8, kRows = 10;
};

template <Pass kPass, int kWide, typename Operator, typename T> __device__ void both(const T *from, T *to, T *totals) {
  const auto load = [&](int row, int column, int k, T *values) { values[kWide - 1] = from[row + column + k]; };
  const auto store = [&](int row, int column, int k, const T *elements) { to[row + column + k] = elements[kWide - 1]; };
  rows<ScanConfig<T, Operator, kWide>, kPass>(totals, load, store);
  short_rows<ScanConfig<T, Operator, kWide>, kPass>(totals, load, store);
  if constexpr (kWide == 1)
    columns<ScanConfig<T, Operator, kWide>, kPass>(totals, load, store);
}

__global__ void sums(const float *from, float *to, float *totals) {
  both<Pass::Totals, 4, Sum>(from, to, totals);
  both<Pass::Scan, 4, Sum>(from, to, totals);
  both<Pass::Totals, 1, Sum>(from, to, totals);
  both<Pass::Scan, 1, Sum>(from, to, totals);
}
__global__ void products(const double *from, double *to, double *totals) { both<Pass::Scan, 1, Product>(from, to, totals); }
__global__ void integers(const long long *from, long long *to, long long *totals) { both<Pass::Scan, 1, Sum>(from, to, totals); }
