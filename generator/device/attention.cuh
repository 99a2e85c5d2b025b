// Attention of 16-bit queries, keys and values, in FP32 without scores in memory. Behind half_mma.cuh.
//
// Rows are the queries of all heads that share keys: row = query * heads + head. A warp holds 16 or
// 32 rows. A block copies tiles of keys, which its warps share. Each warp has different rows, or
// different keys of a tile if there are few rows, as in decoding. Blocks may also share the keys of
// a row. join() then puts their parts together.
#ifndef WARPWRIGHT_ATTENTION
#define WARPWRIGHT_ATTENTION

namespace warpwright_attention {

// 2^((score - base) * factor).
// @tparam kLarge subtracts first: the rounding of base * factor would change the result
template <bool kLarge> __device__ __forceinline__ float weight_of(float score, float base, float factor) {
  return warpwright_mma::power_of_two(kLarge ? (score - base) * factor : fmaf(score, factor, -(base * factor)));
}
// True for all of a warp's rows if one has such scores.
__device__ __forceinline__ bool has_large(float base, float factor) {
  return __any_sync(warpwright_mma::kWarp, fabsf(base * factor) > 1024.0f);
}
__device__ __forceinline__ float hidden() { return __int_as_float(static_cast<int>(0xff800000u)); } // -infinity

// tanh(x) within 2^-11 of itself, finer than 16-bit scores are.
__device__ __forceinline__ float tanh_of(float x) {
#ifdef WARPWRIGHT_CPU
  return tanhf(x);
#else
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

// The keys that a row sees, from `first` to before `last`.
struct Window {
  int first, last;
};

// @tparam C kDepth, kWidth: head size of queries and keys, and of values, multiples of 8; kRows: of a group; kLength: keys;
//   kRowWarps, kKeyWarps: warps along both; kRowTiles: 16-row tiles of a warp; kKeys: of a stage; kStages; kParts: blocks that
//   share the keys of a row; kBFloat16; kKeepsKeys, kKeepsValues: the first tile's blocks store what they read; factor(): of a score, to the power of two whose exponent it is, positive
template <class C> struct Attention {
  static constexpr int kThreads = C::kRowWarps * C::kKeyWarps * 32;
  static constexpr int kWarpRows = 16 * C::kRowTiles, kTileRows = C::kRowWarps * kWarpRows;
  static constexpr int kWarpKeys = C::kKeys / C::kKeyWarps;
  static constexpr int kSteps = (C::kDepth + 15) / 16, kColumns = (C::kWidth + 15) / 16; // of 16
  // An odd number of 16-byte chunks from row to row keeps fragments free of bank conflicts.
  static constexpr int kKeyStride = (2 * kSteps + 1) * 8, kValueStride = (2 * kColumns + 1) * 8;
  static constexpr int kStageElements = C::kKeys * (kKeyStride + kValueStride);
  static constexpr int kResultStride = kColumns * 16 + 4;
  static constexpr bool kHoldsQuery = C::kRowTiles == 1 && kSteps <= 8; // in registers
  using Half = unsigned short;
  static_assert(kWarpKeys % 16 == 0, "whole fragments of keys");

  // Copies rows of `kChunks` chunks of 16 bytes to shared memory, with zeros to the end of fragments, and for rows that are not there.
  template <int kElements, int kStride, int kCount, class From>
  static __device__ __forceinline__ void copy(Half *to, int first, int last, From from) {
    constexpr int kChunks = (kElements + 15) / 16 * 2;
    for (int i = threadIdx.x; i < kCount * kChunks; i += kThreads) {
      const int row = i / kChunks, chunk = i % kChunks;
      const bool there = first + row < last && chunk * 8 < kElements;
      warpwright_mma::copy_16(to + row * kStride + chunk * 8, from(there ? first + row : 0) + (there ? chunk * 8 : 0), there);
    }
  }

  // Stores rows that copy() brought.
  template <int kElements, int kStride, class To>
  static __device__ __forceinline__ void keep_rows(const Half *rows, int first, To to) {
    constexpr int kChunks = kElements / 8;
    for (int i = threadIdx.x; i < C::kKeys * kChunks; i += kThreads) {
      const int row = i / kChunks, chunk = i % kChunks;
      if (first + row < C::kLength)
        *reinterpret_cast<uint4 *>(to(first + row) + chunk * 8) = *reinterpret_cast<const uint4 *>(rows + row * kStride + chunk * 8);
    }
  }

  template <bool kLarge, int kTiles>
  static __device__ __forceinline__ void make_weights(float (&scores)[kTiles][4], int half, float base, float &sum) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float &one = scores[n][half * 2 + j];
        one = weight_of<kLarge>(one, base, C::factor());
        sum += one;
      }
  }

  // @param tile, part of the rows, and of the keys
  // @param query, key, value (int): address of a row, whose elements are neighbors, aligned to 16 bytes
  // @param keep_key, keep_value (int): where to store a row that was read; not called without kKeepsKeys, kKeepsValues
  // @param window (row): what it sees; both ends grow with rows
  // @param score (row, pair, values): changes the scores of keys 2 * pair and 2 * pair + 1
  // @param store (row, column, values): four columns of a row that is whole
  // @param keep (row, column, values): the same of a part, whose sum() is to be divided by
  // @param keep_sum (row, maximum, sum)
  template <class Query, class Key, class Value, class KeepKey, class KeepValue, class See, class Score, class Store, class Keep, class KeepSum>
  static __device__ __forceinline__ void run(int tile, int part, Query query, Key key, Value value, KeepKey keep_key,
                                             KeepValue keep_value, See window, Score score,
                                             Store store, Keep keep, KeepSum keep_sum) {
    extern __shared__ unsigned char dynamic[];
    Half *const queries = reinterpret_cast<Half *>(dynamic), *const stages = queries + kTileRows * kKeyStride;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp / C::kKeyWarps * kWarpRows, warp_key = warp % C::kKeyWarps * kWarpKeys;
    const int first_row = tile * kTileRows;
    const int last_row = first_row + kTileRows < C::kRows ? first_row + kTileRows - 1 : C::kRows - 1;

    // The keys of this block: whole tiles of what its rows see.
    const int from = window(first_row).first / C::kKeys, to = (window(last_row).last + C::kKeys - 1) / C::kKeys;
    const int share = (to - from + C::kParts - 1) / C::kParts;
    const int begin = from + part * share, end = begin + share < to ? begin + share : to;
    const auto fetch = [&](int tile_of_keys) {
      if (tile_of_keys < end) {
        Half *const stage = stages + tile_of_keys % C::kStages * kStageElements;
        copy<C::kDepth, kKeyStride, C::kKeys>(stage, tile_of_keys * C::kKeys, C::kLength, key);
        copy<C::kWidth, kValueStride, C::kKeys>(stage + C::kKeys * kKeyStride, tile_of_keys * C::kKeys, C::kLength, value);
      }
      warpwright_mma::commit_copies();
    };
    copy<C::kDepth, kKeyStride, kTileRows>(queries, first_row, C::kRows, query);
    for (int i = 0; i < C::kStages - 1; ++i)
      fetch(begin + i);

    // Rows g and g + 8 of each of this warp's tiles, as fragments have them.
    int rows[C::kRowTiles][2];
    Window seen[C::kRowTiles][2];
    float maxima[C::kRowTiles][2], sums[C::kRowTiles][2], results[C::kRowTiles][kColumns * 2][4] = {};
#pragma unroll
    for (int i = 0; i < C::kRowTiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = first_row + warp_row + i * 16 + half * 8 + lane / 4;
        rows[i][half] = row < C::kRows ? row : C::kRows - 1;
        seen[i][half] = window(rows[i][half]);
        maxima[i][half] = hidden();
        sums[i][half] = 0.0f;
      }
    const int warp_first = first_row + warp_row < C::kRows ? first_row + warp_row : C::kRows - 1;
    const int warp_last = warp_first + kWarpRows <= C::kRows ? warp_first + kWarpRows - 1 : C::kRows - 1;
    const int all_from = window(warp_last).first, all_to = window(warp_first).last; // what all rows of the warp see
    const Half *const query_row = queries + (warp_row + lane % 16) * kKeyStride + lane / 16 * 8;
    unsigned held[kHoldsQuery ? kSteps : 1][4];

    for (int tile_of_keys = begin; tile_of_keys < end; ++tile_of_keys) {
      warpwright_mma::wait_copies<C::kStages - 2>();
      __syncthreads();
      fetch(tile_of_keys + C::kStages - 1); // to where all have read
      if constexpr (kHoldsQuery)
        if (tile_of_keys == begin) {
#pragma unroll
          for (int step = 0; step < kSteps; ++step)
            warpwright_mma::load_matrices(held[step], query_row + step * 16);
        }
      const Half *const stage = stages + tile_of_keys % C::kStages * kStageElements;
      const int first_key = tile_of_keys * C::kKeys + warp_key;
      if (tile == 0) {
        if constexpr (C::kKeepsKeys)
          keep_rows<C::kDepth, kKeyStride>(stage, tile_of_keys * C::kKeys, keep_key);
        if constexpr (C::kKeepsValues)
          keep_rows<C::kWidth, kValueStride>(stage + C::kKeys * kKeyStride, tile_of_keys * C::kKeys, keep_value);
      }

      float scores[C::kRowTiles][kWarpKeys / 8][4] = {};
      const Half *const key_row = stage + (warp_key + lane % 8 + lane / 16 * 8) * kKeyStride + lane / 8 % 2 * 8;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        unsigned a[C::kRowTiles][4];
#pragma unroll
        for (int i = 0; i < C::kRowTiles; ++i)
          if constexpr (!kHoldsQuery)
            warpwright_mma::load_matrices(a[i], query_row + i * 16 * kKeyStride + step * 16);
#pragma unroll
        for (int keys = 0; keys < kWarpKeys / 16; ++keys) {
          unsigned b[4];
          warpwright_mma::load_matrices(b, key_row + keys * 16 * kKeyStride + step * 16);
#pragma unroll
          for (int i = 0; i < C::kRowTiles; ++i) {
            const unsigned(&left)[4] = kHoldsQuery ? held[kHoldsQuery ? step : 0] : a[i];
            warpwright_mma::multiply<C::kBFloat16>(scores[i][keys * 2], left, b[0], b[1]);
            warpwright_mma::multiply<C::kBFloat16>(scores[i][keys * 2 + 1], left, b[2], b[3]);
          }
        }
      }

      const bool whole = all_from <= first_key && first_key + kWarpKeys <= all_to;
#pragma unroll
      for (int i = 0; i < C::kRowTiles; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float most = hidden();
#pragma unroll
          for (int n = 0; n < kWarpKeys / 8; ++n) {
            const int first = first_key + n * 8 + lane % 4 * 2;
            float values[2] = {scores[i][n][half * 2], scores[i][n][half * 2 + 1]};
            score(rows[i][half], first / 2, values);
            if (!whole) {
#pragma unroll
              for (int j = 0; j < 2; ++j)
                if (first + j < seen[i][half].first || first + j >= seen[i][half].last)
                  values[j] = hidden();
            }
            most = fmaxf(most, fmaxf(values[0], values[1]));
            scores[i][n][half * 2] = values[0];
            scores[i][n][half * 2 + 1] = values[1];
          }
          most = fmaxf(most, __shfl_xor_sync(warpwright_mma::kWarp, most, 1));
          most = fmaxf(most, __shfl_xor_sync(warpwright_mma::kWarp, most, 2));
          most = fmaxf(most, maxima[i][half]);
          const float base = most == hidden() ? 0.0f : most, shrink = weight_of<true>(maxima[i][half], base, C::factor());
          maxima[i][half] = most;
          float sum = sums[i][half] * shrink;
          if (has_large(base, C::factor()))
            make_weights<true>(scores[i], half, base, sum);
          else
            make_weights<false>(scores[i], half, base, sum);
          sums[i][half] = sum;
#pragma unroll
          for (int n = 0; n < kColumns * 2; ++n) {
            results[i][n][half * 2] *= shrink;
            results[i][n][half * 2 + 1] *= shrink;
          }
        }

      const Half *const value_row =
          stage + C::kKeys * kKeyStride + (warp_key + lane % 16) * kValueStride + lane / 16 * 8;
#pragma unroll
      for (int keys = 0; keys < kWarpKeys / 16; ++keys) {
        unsigned a[C::kRowTiles][4];
#pragma unroll
        for (int i = 0; i < C::kRowTiles; ++i)
#pragma unroll
          for (int word = 0; word < 4; ++word) {
            const float *const two = &scores[i][keys * 2 + word / 2][word % 2 * 2];
            a[i][word] = warpwright_mma::pair_of<C::kBFloat16>(two[0], two[1]);
          }
#pragma unroll
        for (int columns = 0; columns < kColumns; ++columns) {
          unsigned b[4];
          warpwright_mma::load_transposed(b, value_row + keys * 16 * kValueStride + columns * 16);
#pragma unroll
          for (int i = 0; i < C::kRowTiles; ++i) {
            warpwright_mma::multiply<C::kBFloat16>(results[i][columns * 2], a[i], b[0], b[1]);
            warpwright_mma::multiply<C::kBFloat16>(results[i][columns * 2 + 1], a[i], b[2], b[3]);
          }
        }
      }
    }

    // Results meet in shared memory, where those of warps with other keys are added, and threads find whole lines to store.
    warpwright_mma::wait_copies<0>();
    __syncthreads();
    float *const kept = reinterpret_cast<float *>(dynamic);
    float *const kept_sums = kept + C::kKeyWarps * kTileRows * kResultStride; // maximum and sum of each row
    const int of_warp = warp % C::kKeyWarps * kTileRows;
#pragma unroll
    for (int i = 0; i < C::kRowTiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = of_warp + warp_row + i * 16 + half * 8 + lane / 4;
        float sum = sums[i][half];
        sum += __shfl_xor_sync(warpwright_mma::kWarp, sum, 1);
        sum += __shfl_xor_sync(warpwright_mma::kWarp, sum, 2);
        if (lane % 4 == 0) {
          kept_sums[row * 2] = maxima[i][half] * C::factor();
          kept_sums[row * 2 + 1] = sum;
        }
#pragma unroll
        for (int n = 0; n < kColumns * 2; ++n)
          *reinterpret_cast<float2 *>(kept + row * kResultStride + n * 8 + lane % 4 * 2) =
              make_float2(results[i][n][half * 2], results[i][n][half * 2 + 1]);
      }
    __syncthreads();
    constexpr int kVectors = C::kWidth / 4;
    for (int i = threadIdx.x; i < kTileRows * kVectors; i += kThreads) {
      const int row = i / kVectors, column = i % kVectors * 4;
      if (first_row + row >= C::kRows)
        break;
      float most = hidden(), sum = 0.0f, values[4] = {};
#pragma unroll
      for (int keys = 0; keys < C::kKeyWarps; ++keys)
        most = fmaxf(most, kept_sums[(keys * kTileRows + row) * 2]);
#pragma unroll
      for (int keys = 0; keys < C::kKeyWarps; ++keys) {
        const int at = keys * kTileRows + row;
        add(values, sum, most, kept_sums[at * 2], kept_sums[at * 2 + 1], kept + at * kResultStride + column);
      }
      if constexpr (C::kParts > 1) {
        keep(first_row + row, column, values);
        if (column == 0)
          keep_sum(first_row + row, most, sum);
      } else {
        divide(values, sum);
        store(first_row + row, column, values);
      }
    }
  }

  // Adds the part whose largest exponent is `own`, where `most` is that of all.
  static __device__ __forceinline__ void add(float (&values)[4], float &sum, float most, float own, float own_sum,
                                             const float *own_values) {
    const float weight = own == hidden() ? 0.0f : warpwright_mma::power_of_two(own - most);
    const float4 four = *reinterpret_cast<const float4 *>(own_values);
    sum += own_sum * weight;
    values[0] += four.x * weight;
    values[1] += four.y * weight;
    values[2] += four.z * weight;
    values[3] += four.w * weight;
  }
  // A row that sees no key is 0.
  static __device__ __forceinline__ void divide(float (&values)[4], float sum) {
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
#pragma unroll
    for (float &one : values)
      one *= inverse;
  }

  // Puts the parts of four columns together.
  // @param values_of (part): address of what keep() got; sums_of (part): of keep_sum()'s maximum and sum
  template <class ValuesOf, class SumsOf>
  static __device__ __forceinline__ void join(float (&values)[4], ValuesOf values_of, SumsOf sums_of) {
    float most = hidden(), sum = 0.0f;
#pragma unroll
    for (int part = 0; part < C::kParts; ++part)
      most = fmaxf(most, sums_of(part)[0]);
#pragma unroll
    for (int part = 0; part < C::kParts; ++part)
      add(values, sum, most, sums_of(part)[0], sums_of(part)[1], values_of(part));
    divide(values, sum);
  }
};

} // namespace warpwright_attention
#endif
