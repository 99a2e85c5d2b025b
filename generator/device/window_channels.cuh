// Windows that slide over channels-last memory: a thread makes a vector of neighbouring channels of a few outputs side by side
// (families/windows/window_channels.h).
#ifndef WARPWRIGHT_WINDOW_CHANNELS
#define WARPWRIGHT_WINDOW_CHANNELS

namespace warpwright_windows {

// @tparam Config Value: the type of sums; Number: of the launch's threads; initial(): an empty sum;
//   sizes of depth, height and width, as D, H and W: kI (input), kO (output), kK (window), kS (stride), kP (padding), kD (dilation);
//   kBatch; kVector: channels of a thread; kVectors, all of them; kColumns: outputs of a thread; kGroupsW: threads of an output row;
//   kThreads; kLanes: vectors of channels beside each other; kChannelBlocks: such groups of lanes; kStoresRows: results are stored as
//   vectors of the four columns, not of channels; kUnrollD, kUnrollH: of the loops over the window
template <typename Config> struct Channels {
  using C = Config;
  using Value = typename C::Value;
  static constexpr int kColumns = C::kColumns, kVector = C::kVector;
  static constexpr int kSpan = (kColumns - 1) * C::kSW + (C::kKW - 1) * C::kDW + 1;

  // @param load (n, c1, d, h, w, Value (&values)[kVector]), `c1` being a vector of channels
  // @param accumulate (c1, i, kd, kh, from, value, Value &sum): `from` is kw times the dilation, `i` a channel of the vector
  // @param result (c1, i, sum, od, oh, ow): the element of a sum
  // @param store_channels (n, c1, od, oh, ow, const Value (&elements)[kVector])
  // @param store_columns (n, c, od, oh, ow / 4, const Value (&elements)[kColumns])
  template <typename Load, typename Accumulate, typename Result, typename StoreChannels, typename StoreColumns>
  static __device__ __forceinline__ void run(Load load, Accumulate accumulate, Result result,
                                             StoreChannels store_channels, StoreColumns store_columns) {
    using Number = typename C::Number;
    const Number id = (Number)blockIdx.x * C::kThreads + threadIdx.x;
    Number rest = id / C::kLanes;
    const int owg = (int)(rest % C::kGroupsW);
    rest /= C::kGroupsW;
    const int oh = (int)(rest % C::kOH);
    rest /= C::kOH;
    const int od = (int)(rest % C::kOD);
    rest /= C::kOD;
    const int c1 = (int)(rest % C::kChannelBlocks) * C::kLanes + (int)(id % C::kLanes);
    const int n = (int)(rest / C::kChannelBlocks);
    if (n >= C::kBatch || c1 >= C::kVectors)
      return;
    const int ow1 = owg * kColumns;
    Value sums[kColumns][kVector];
#pragma unroll
    for (int i = 0; i < kColumns * kVector; ++i)
      sums[i / kVector][i % kVector] = C::initial();
#pragma unroll C::kUnrollD
    for (int kd = 0; kd < C::kKD; ++kd) {
      const int d = od * C::kSD - C::kPD + kd * C::kDD;
      if (d < 0 || d >= C::kID)
        continue;
#pragma unroll C::kUnrollH
      for (int kh = 0; kh < C::kKH; ++kh) {
        const int h = oh * C::kSH - C::kPH + kh * C::kDH;
        if (h < 0 || h >= C::kIH)
          continue;
#pragma unroll
        for (int j = 0; j < kSpan; ++j) {
          const int w = ow1 * C::kSW - C::kPW + j;
          bool wanted = false;
#pragma unroll
          for (int column = 0; column < kColumns; ++column)
            wanted = wanted || (j >= column * C::kSW && (j - column * C::kSW) % C::kDW == 0 &&
                                (j - column * C::kSW) / C::kDW < C::kKW);
          if (!wanted || w < 0 || w >= C::kIW)
            continue;
          Value values[kVector];
          load(n, c1, d, h, w, values);
#pragma unroll
          for (int column = 0; column < kColumns; ++column) {
            const int from = j - column * C::kSW;
            if (from >= 0 && from % C::kDW == 0 && from / C::kDW < C::kKW) {
#pragma unroll
              for (int i = 0; i < kVector; ++i) {
                Value sum = sums[column][i];
                accumulate(c1, i, kd, kh, from, values[i], sum);
                sums[column][i] = sum;
              }
            }
          }
        }
      }
    }
    Value results[kColumns][kVector];
#pragma unroll
    for (int column = 0; column < kColumns; ++column)
#pragma unroll
      for (int i = 0; i < kVector; ++i)
        results[column][i] = result(c1, i, sums[column][i], od, oh, ow1 + column);
    if constexpr (C::kStoresRows != 0) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        Value elements[kColumns];
#pragma unroll
        for (int column = 0; column < kColumns; ++column)
          elements[column] = results[column][i];
        store_columns(n, c1 * kVector + i, od, oh, owg, elements);
      }
    } else {
#pragma unroll
      for (int column = 0; column < kColumns; ++column)
        if (ow1 + column < C::kOW)
          store_channels(n, c1, od, oh, ow1 + column, results[column]);
    }
  }
};

} // namespace warpwright_windows
#endif
