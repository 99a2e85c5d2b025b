// A matrix times a few vectors: the wide operand is read once, straight from memory.
//
// Wide operands that run along k: a warp takes kRows rows, its lanes steps of k, and adds its lanes' sums by shuffles. Those that run across
// k: a lane takes kWide neighbouring rows and walks k. In both, `kShare` warps of a block share rows, each with a part of k, and
// add their sums through shared memory in order.
#ifndef WARPWRIGHT_THIN
#define WARPWRIGHT_THIN

namespace warpwright_thin {

// Gives kCount neighbours in k by loads of kWide.
template <int kCount, int kWide, typename T, typename Load>
__device__ __forceinline__ void along(Load load, int row, int k, T (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += kWide) {
    T part[kWide];
    load(row, k + i, part);
#pragma unroll
    for (int j = 0; j < kWide; ++j)
      values[i + j] = part[j];
  }
}

// `wide(row, k, values)` gives kWide neighbours in k, `thin(row, k, values)` kWideThin. `store(wide_row, thin_row, value)`.
template <typename T, int kThin, int kRows, int kWarps, int kShare, int kWide, int kWideThin,
          typename Wide, typename Thin, typename Store>
__device__ __forceinline__ void rows_along_k(int rows, int first_row, int first_k, int last_k,
                                             Wide wide, Thin thin, Store store) {
  __shared__ T parts[kShare > 1 ? kWarps * kRows * kThin : 1];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = first_row + warp / kShare * kRows;
  T sum[kRows][kThin] = {};
  // Sums of sixteen steps are added to the total, so that long rows lose no more than short ones.
  constexpr int kStep = kShare * 32 * kWide;
  for (int block = first_k + (warp % kShare * 32 + lane) * kWide; block < last_k; block += 16 * kStep) {
    T short_sum[kRows][kThin] = {};
    const int end = block + 16 * kStep < last_k ? block + 16 * kStep : last_k;
#pragma unroll 4
    for (int k = block; k < end; k += kStep) {
      T elements[kRows][kWide];
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        if (row + i < rows)
          wide(row + i, k, elements[i]);
#pragma unroll
      for (int j = 0; j < kThin; ++j) {
        T others[kWide];
        along<kWide, kWideThin>(thin, j, k, others);
#pragma unroll
        for (int i = 0; i < kRows; ++i)
          if (row + i < rows)
#pragma unroll
            for (int part = 0; part < kWide; ++part)
              short_sum[i][j] += elements[i][part] * others[part];
      }
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kThin; ++j)
        sum[i][j] += short_sum[i][j];
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int j = 0; j < kThin; ++j) {
#pragma unroll
      for (int distance = 16; distance > 0; distance /= 2)
        sum[i][j] += __shfl_xor_sync(0xffffffffu, sum[i][j], distance);
      if (kShare > 1 && lane == 0)
        parts[(warp * kRows + i) * kThin + j] = sum[i][j];
    }
  if (kShare > 1) {
    __syncthreads();
    for (int item = threadIdx.x; item < kWarps / kShare * kRows * kThin; item += kWarps * 32) {
      const int team = item / (kRows * kThin), rest = item % (kRows * kThin);
      T value = T(0);
      for (int share = 0; share < kShare; ++share)
        value += parts[(team * kShare + share) * kRows * kThin + rest];
      const int target = first_row + team * kRows + rest / kThin;
      if (target < rows)
        store(target, rest % kThin, value);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kThin; ++j)
        if (lane == (i * kThin + j) % 32 && row + i < rows)
          store(row + i, j, sum[i][j]);
  }
}

// `wide(row, k, values)` gives kWide neighbouring rows, `thin(row, k, values)` one element.
template <typename T, int kThin, int kWarps, int kWide, typename Wide, typename Thin, typename Store>
__device__ __forceinline__ void rows_across_k(int rows, int first_row, int first_k, int last_k,
                                              Wide wide, Thin thin, Store store) {
  __shared__ T parts[kWarps > 1 ? kWarps * kThin * kWide * 32 : 1];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = first_row + lane * kWide;
  T sum[kThin][kWide] = {};
  if (row < rows) {
#pragma unroll 8
    for (int k = first_k + warp; k < last_k; k += kWarps) {
      T elements[kWide];
      wide(row, k, elements);
#pragma unroll
      for (int j = 0; j < kThin; ++j) {
        T other[1];
        thin(j, k, other);
#pragma unroll
        for (int i = 0; i < kWide; ++i)
          sum[j][i] += elements[i] * other[0];
      }
    }
  }
  if (kWarps == 1) {
#pragma unroll
    for (int j = 0; j < kThin; ++j)
#pragma unroll
      for (int i = 0; i < kWide; ++i)
        if (row < rows)
          store(row + i, j, sum[j][i]);
    return;
  }
#pragma unroll
  for (int j = 0; j < kThin; ++j)
#pragma unroll
    for (int i = 0; i < kWide; ++i)
      parts[((warp * kThin + j) * kWide + i) * 32 + lane] = sum[j][i];
  __syncthreads();
  for (int item = threadIdx.x; item < kThin * kWide * 32; item += kWarps * 32) {
    const int j = item / (kWide * 32), i = item % kWide, owner = item / kWide % 32;
    T value = T(0);
    for (int other = 0; other < kWarps; ++other)
      value += parts[((other * kThin + j) * kWide + i) * 32 + owner];
    const int target = first_row + owner * kWide + i;
    if (target < rows)
      store(target, j, value);
  }
}

} // namespace warpwright_thin
#endif
