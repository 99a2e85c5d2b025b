// Windows that slide over independent planes of up to three dimensions: pooling and depthwise convolution (families/windows/window_tile.h).
//
// A block makes a tile of the outputs of a few planes. Its threads stand side by side along the last dimension; each makes kRows outputs one
// above the other and kColumns side by side, so that it reads an input row which several windows share once.
#ifndef WARPWRIGHT_WINDOW_TILE
#define WARPWRIGHT_WINDOW_TILE

namespace warpwright_windows {

// @tparam Config Value: the type of sums; fill(): an element outside the input; initial(): an empty sum;
//   kAllPlanes, and of depth, height and width, as D, H and W: kI (input), kO (output), kK (window), kS (stride), kP (padding), kD (dilation);
//   kThreads; kWidth, kHeight, kPlanes: threads along each dimension; kRows, kColumns: outputs of a thread; kTilesW, kTilesH;
//   kStaged: the input passes through shared memory, kStageUnroll vectors of lanes at once; kDepthUnroll of the loop over the window's depths
template <typename Config> struct Windows {
  using C = Config;
  using Value = typename C::Value;
  static constexpr int kRows = C::kRows, kColumns = C::kColumns;
  static constexpr int kLines = (kRows - 1) * C::kSH + (C::kKH - 1) * C::kDH + 1; // input rows of a thread
  static constexpr int kTileRows = (C::kHeight * kRows - 1) * C::kSH + (C::kKH - 1) * C::kDH + 1;
  static constexpr int kTileWidth = (C::kWidth - 1) * C::kSW + (C::kKW - 1) * C::kDW + 1;
  // A thread's elements of an input row. Four neighbouring outputs share whole vectors from the multiple of 4 before them on; one output has
  // those of its window.
  static constexpr bool kFours = kColumns == 4;
  static constexpr int kFirst = kFours ? (4 - C::kPW % 4) % 4 : 0, kSpread = kFours ? C::kDW : 1;
  static constexpr int kVectors = (kFirst + 3 * C::kSW + (C::kKW - 1) * C::kDW + 1 + 3) / 4;
  static constexpr int kAcross = kFours ? kVectors * 4 : C::kKW;

  int od, plane, ow1, oh1; // the thread's first output
  bool inside;             // it lies within the result
  const Value *staged = nullptr;

  // Finds the thread's outputs, and stages the input.
  // @param load (plane, d, h, w, Value &)
  template <typename Load> explicit __device__ __forceinline__ Windows(Load load) {
    const int x = threadIdx.x % C::kWidth, y = threadIdx.x / C::kWidth % C::kHeight;
    const int z = threadIdx.x / (C::kWidth * C::kHeight);
    int block = blockIdx.x;
    const int ow0 = block % C::kTilesW * (C::kWidth * kColumns);
    block /= C::kTilesW;
    const int oh0 = block % C::kTilesH * (C::kHeight * kRows);
    block /= C::kTilesH;
    od = block % C::kOD;
    const int plane0 = block / C::kOD * C::kPlanes;
    if constexpr (C::kStaged != 0)
      staged = stage(ow0, oh0, od, plane0, load);
    plane = plane0 + z, ow1 = ow0 + x * kColumns, oh1 = oh0 + y * kRows;
    inside = z < C::kPlanes && plane < C::kAllPlanes && ow1 < C::kOW && oh1 < C::kOH;
  }

  // Makes the thread's outputs.
  // @param load_four (plane, d, h, w / 4, Value *)
  // @param accumulate (Value &sum, const Value (&v)[kKW], kd, kh): adds a row of the window
  // @param result (sum, od, oh, ow): the element of a sum
  // @param store (od, oh, ow, element); store_four (od, oh, ow / 4, const Value (&elements)[4])
  template <typename Load, typename LoadFour, typename Accumulate, typename Result, typename Store, typename StoreFour>
  __device__ __forceinline__ void make(Load load, LoadFour load_four, Accumulate accumulate, Result result, Store store,
                                       StoreFour store_four) const {
    const int x = threadIdx.x % C::kWidth, y = threadIdx.x / C::kWidth % C::kHeight;
    const int z = threadIdx.x / (C::kWidth * C::kHeight);
    Value sums[kRows][kColumns];
#pragma unroll
    for (int i = 0; i < kRows * kColumns; ++i)
      sums[i / kColumns][i % kColumns] = C::initial();
#pragma unroll C::kDepthUnroll
    for (int kd = 0; kd < C::kKD; ++kd) {
#pragma unroll
      for (int line = 0; line < kLines; ++line) {
        Value across[kAcross];
        if constexpr (C::kStaged != 0) {
#pragma unroll
          for (int kw = 0; kw < C::kKW; ++kw)
            across[kw] = staged[((z * C::kKD + kd) * kTileRows + y * kRows * C::kSH + line) * kTileWidth +
                                x * C::kSW + kw * C::kDW];
        } else {
          read(plane, od * C::kSD - C::kPD + kd * C::kDD, oh1 * C::kSH - C::kPH + line, ow1 * C::kSW - C::kPW, across,
               load, load_four);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const int from = line - r * C::kSH;
          if (from >= 0 && from % C::kDH == 0 && from / C::kDH < C::kKH) {
            const int kh = from / C::kDH;
#pragma unroll
            for (int c = 0; c < kColumns; ++c) {
              Value v[C::kKW];
#pragma unroll
              for (int kw = 0; kw < C::kKW; ++kw)
                v[kw] = across[kFirst + c * C::kSW + kw * kSpread];
              Value sum = sums[r][c];
              accumulate(sum, v, kd, kh);
              sums[r][c] = sum;
            }
          }
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int oh = oh1 + r;
      if (oh < C::kOH) {
        if constexpr (kFours && C::kOW % 4 == 0) {
          Value elements[4];
#pragma unroll
          for (int c = 0; c < 4; ++c)
            elements[c] = result(sums[r][c], od, oh, ow1 + c);
          store_four(od, oh, ow1 / 4, elements);
        } else {
#pragma unroll
          for (int c = 0; c < kColumns; ++c) {
            const int ow = ow1 + c;
            if (ow < C::kOW)
              store(od, oh, ow, result(sums[r][c], od, oh, ow));
          }
        }
      }
    }
  }

  // The input of the block's windows in shared memory: [plane][depth of the window][line][column].
  template <typename Load>
  static __device__ __forceinline__ Value *stage(int ow0, int oh0, int od, int plane0, Load load) {
    extern __shared__ __align__(16) unsigned char staged_bytes[];
    Value *const staged = reinterpret_cast<Value *>(staged_bytes);
    for (int line = threadIdx.x / 32; line < C::kPlanes * C::kKD * kTileRows; line += C::kThreads / 32) {
      const int h = oh0 * C::kSH - C::kPH + line % kTileRows;
      const int d = od * C::kSD - C::kPD + line / kTileRows % C::kKD * C::kDD;
      const int plane = plane0 + line / (kTileRows * C::kKD);
      const bool inside = h >= 0 && h < C::kIH && d >= 0 && d < C::kID && plane < C::kAllPlanes;
#pragma unroll C::kStageUnroll
      for (int column = threadIdx.x % 32; column < kTileWidth; column += 32) {
        const int w = ow0 * C::kSW - C::kPW + column;
        Value value = C::fill();
        if (inside && w >= 0 && w < C::kIW)
          load(plane, d, h, w, value);
        staged[line * kTileWidth + column] = value;
      }
    }
    __syncthreads();
    return staged;
  }

  // A thread's elements of the input row at (plane, d, h), for windows from `w0` on.
  template <typename Load, typename LoadFour>
  static __device__ __forceinline__ void read(int plane, int d, int h, int w0, Value (&across)[kAcross], Load load,
                                              LoadFour load_four) {
    if constexpr (kFours) {
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        const int w4 = (w0 - kFirst) / 4 + i;
        Value *const four = across + i * 4;
        four[0] = four[1] = four[2] = four[3] = C::fill();
        if (w4 >= 0 && w4 < C::kIW / 4 && h >= 0 && h < C::kIH && d >= 0 && d < C::kID)
          load_four(plane, d, h, w4, four);
      }
    } else {
#pragma unroll
      for (int kw = 0; kw < C::kKW; ++kw) {
        const int w = w0 + kw * C::kDW;
        Value value = C::fill();
        if (w >= 0 && w < C::kIW && h >= 0 && h < C::kIH && d >= 0 && d < C::kID)
          load(plane, d, h, w, value);
        across[kw] = value;
      }
    }
  }
};

} // namespace warpwright_windows
#endif
