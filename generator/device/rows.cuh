#ifndef WARPWRIGHT_ROWS
#define WARPWRIGHT_ROWS
namespace warpwright_rows {
template <class M, int N> struct alignas(sizeof(M) * N > 16 ? 16 : sizeof(M) * N) Pack { M value[N]; };

template <int N, class M, class C>
__device__ __forceinline__ void load(const M *__restrict__ from, C (&to)[N]) {
  const Pack<M, N> pack = *reinterpret_cast<const Pack<M, N> *>(from);
#pragma unroll
  for (int i = 0; i < N; ++i)
    to[i] = static_cast<C>(pack.value[i]);
}
template <int N, class M, class C>
__device__ __forceinline__ void store(M *to, const C (&from)[N]) {
  Pack<M, N> pack;
#pragma unroll
  for (int i = 0; i < N; ++i)
    pack.value[i] = static_cast<M>(from[i]);
  *reinterpret_cast<Pack<M, N> *>(to) = pack;
}

__device__ __forceinline__ float exponential(float x) { return expf(x); }
__device__ __forceinline__ double exponential(double x) { return exp(x); }
template <class T> struct Limits;
template <> struct Limits<float> {
  static __device__ __forceinline__ float highest() { return __int_as_float(0x7f800000); }
  static __device__ __forceinline__ float lowest() { return -highest(); }
};
template <> struct Limits<double> {
  static __device__ __forceinline__ double highest() { return __longlong_as_double(0x7ff0000000000000LL); }
  static __device__ __forceinline__ double lowest() { return -highest(); }
};
template <> struct Limits<int> {
  static __device__ __forceinline__ int highest() { return 2147483647; }
  static __device__ __forceinline__ int lowest() { return -2147483647 - 1; }
};
template <> struct Limits<long long> {
  static __device__ __forceinline__ long long highest() { return 9223372036854775807LL; }
  static __device__ __forceinline__ long long lowest() { return -highest() - 1; }
};
template <> struct Limits<bool> {
  static __device__ __forceinline__ bool highest() { return true; }
  static __device__ __forceinline__ bool lowest() { return false; }
};
template <class T> __device__ __forceinline__ T exchange(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
__device__ __forceinline__ bool exchange(bool value, int mask) {
  return __shfl_xor_sync(0xffffffffu, static_cast<int>(value), mask) != 0;
}

// NaN wins, as in PyTorch.
template <class T> __device__ __forceinline__ T larger(T a, T b) { return a > b || a != a ? a : b; }
template <class T> __device__ __forceinline__ T smaller(T a, T b) { return a < b || a != a ? a : b; }

#define WARPWRIGHT_ROWS_FOLD(NAME, START, COMBINED)                                                \
  template <class T> struct NAME {                                                                 \
    T value;                                                                                       \
    static __device__ __forceinline__ NAME identity() { return {START}; }                          \
    static __device__ __forceinline__ T combined(T a, T b) { return COMBINED; }                    \
    template <int V, class X, int N, int K>                                                        \
    __device__ __forceinline__ void add(const X (&x)[N], const bool (&valid)[K]) {                 \
      _Pragma("unroll") for (int i = 0; i < N; ++i)                                                \
        value = valid[i / V] ? combined(value, static_cast<T>(x[i])) : value;                      \
    }                                                                                              \
    __device__ __forceinline__ void merge(const NAME &other) { value = combined(value, other.value); } \
    __device__ __forceinline__ NAME shuffled(int mask) const { return {exchange(value, mask)}; }   \
  };
WARPWRIGHT_ROWS_FOLD(Sum, T(0), a + b)
WARPWRIGHT_ROWS_FOLD(Product, T(1), a * b)
WARPWRIGHT_ROWS_FOLD(Maximum, Limits<T>::lowest(), larger(a, b))
WARPWRIGHT_ROWS_FOLD(Minimum, Limits<T>::highest(), smaller(a, b))
WARPWRIGHT_ROWS_FOLD(Any, false, a || b)
WARPWRIGHT_ROWS_FOLD(All, true, a && b)
#undef WARPWRIGHT_ROWS_FOLD

// Within two units of the last place, which the moments' own rounding exceeds, and without a division's many instructions.
__device__ __forceinline__ float quotient(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ double quotient(double a, double b) { return a / b; }

template <class T> struct Moments {
  T count, mean, squares; // squares: of deviations from the mean
  static __device__ __forceinline__ Moments identity() { return {T(0), T(0), T(0)}; }
  template <int V, class X, int N, int K>
  __device__ __forceinline__ void add(const X (&x)[N], const bool (&valid)[K]) {
    T number = T(0), sum = T(0), rest = T(0);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      number += valid[i / V] ? T(1) : T(0);
      sum += valid[i / V] ? static_cast<T>(x[i]) : T(0);
    }
    const T middle = number > T(0) ? quotient(sum, number) : T(0);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const T deviation = static_cast<T>(x[i]) - middle;
      rest += valid[i / V] ? deviation * deviation : T(0);
    }
    merge({number, middle, rest});
  }
  __device__ __forceinline__ void merge(const Moments &other) {
    const T number = count + other.count;
    if (number > T(0)) {
      const T difference = other.mean - mean, share = quotient(other.count, number);
      mean += difference * share;
      squares += other.squares + difference * difference * count * share;
      count = number;
    }
  }
  __device__ __forceinline__ Moments shuffled(int mask) const {
    return {exchange(count, mask), exchange(mean, mask), exchange(squares, mask)};
  }
};

// The maximum and the sum of exponentials of what lies below it. Guarded: an infinite maximum is not subtracted, as in logsumexp;
// else only the infinity of "nothing yet".
template <class T, bool Guarded> struct ExponentialSum {
  T maximum, sum;
  static __device__ __forceinline__ ExponentialSum identity() { return {Limits<T>::lowest(), T(0)}; }
  static __device__ __forceinline__ T shift(T maximum) {
    return maximum == Limits<T>::lowest() || (Guarded && maximum == Limits<T>::highest()) ? T(0) : maximum;
  }
  template <int V, class X, int N, int K>
  __device__ __forceinline__ void add(const X (&x)[N], const bool (&valid)[K]) {
    T highest = maximum;
#pragma unroll
    for (int i = 0; i < N; ++i)
      highest = valid[i / V] ? larger(highest, static_cast<T>(x[i])) : highest;
    sum = highest == maximum ? sum : sum * exponential(maximum - highest);
    maximum = highest;
    const T subtracted = shift(highest);
#pragma unroll
    for (int i = 0; i < N; ++i)
      sum += valid[i / V] ? exponential(static_cast<T>(x[i]) - subtracted) : T(0);
  }
  __device__ __forceinline__ void merge(const ExponentialSum &other) {
    const T highest = larger(maximum, other.maximum);
    sum = (maximum == highest ? sum : sum * exponential(maximum - highest)) +
          (other.maximum == highest ? other.sum : other.sum * exponential(other.maximum - highest));
    maximum = highest;
  }
  __device__ __forceinline__ ExponentialSum shuffled(int mask) const {
    return {exchange(maximum, mask), exchange(sum, mask)};
  }
};

// The first of the largest (smallest), and NaN before all, as in PyTorch.
template <class T, bool Largest> struct Position {
  T value;
  long long index; // -1: nothing yet
  static __device__ __forceinline__ Position identity() { return {T(0), -1}; }
  __device__ __forceinline__ void merge(const Position &other) {
    if (other.index < 0)
      return;
    const bool nan = value != value, other_nan = other.value != other.value;
    const bool better = Largest ? other.value > value : other.value < value;
    const bool same = nan ? other_nan : other.value == value;
    if (index < 0 || (same ? other.index < index : !nan && (other_nan || better)))
      *this = other;
  }
  template <int V, class X, int N, int K, class I>
  __device__ __forceinline__ void add(const X (&x)[N], const bool (&valid)[K], const I (&at)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (valid[i / V])
        merge({static_cast<T>(x[i]), static_cast<long long>(at[i])});
  }
  __device__ __forceinline__ Position shuffled(int mask) const {
    return {exchange(value, mask), exchange(index, mask)};
  }
};

constexpr __host__ __device__ int next_power_of_two(int value) { return value <= 1 ? 1 : 2 * next_power_of_two((value + 1) / 2); }

// Over Group threads that are neighbours; each gets the result. @param scratch Threads / 32 of them
template <int Group, int Threads, class A>
__device__ __forceinline__ A reduce_neighbours(A mine, A *scratch) {
#pragma unroll
  for (int mask = (Group < 32 ? Group : 32) / 2; mask > 0; mask /= 2)
    mine.merge(mine.shuffled(mask));
  if (Group > 32) {
    constexpr int kWarps = Group > 32 ? Group / 32 : 1, kLanes = next_power_of_two(kWarps);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0)
      scratch[warp] = mine;
    __syncthreads();
    const int other = lane % kLanes;
    mine = other < kWarps ? scratch[warp / kWarps * kWarps + other] : A::identity();
#pragma unroll
    for (int mask = kLanes / 2; mask > 0; mask /= 2)
      mine.merge(mine.shuffled(mask));
  }
  return mine;
}
// Over the Parts parts of a block that are Lanes threads apart; each gets the result. Those of a warp exchange theirs first.
// @param scratch V * Lanes for each warp, or for each part where the lanes do not divide a warp
template <int Parts, int Lanes, int V, class A>
__device__ __forceinline__ void reduce_columns(A (&mine)[V], A *scratch) {
  constexpr int kWithin = 32 % Lanes != 0 ? 1 : Parts < 32 / Lanes ? Parts : 32 / Lanes, kGroups = Parts / kWithin, kFew = 16;
#pragma unroll
  for (int mask = Lanes; mask < Lanes * kWithin; mask *= 2)
#pragma unroll
    for (int v = 0; v < V; ++v)
      mine[v].merge(mine[v].shuffled(mask));
  if (kGroups > 1) {
    const int lane = threadIdx.x % Lanes, part = threadIdx.x / (Lanes * kWithin);
    const bool writes = threadIdx.x % (Lanes * kWithin) < Lanes;
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (writes)
        scratch[(part * V + v) * Lanes + lane] = mine[v];
    if (kGroups > kFew) {
      __syncthreads();
      if (writes && part < kFew)
#pragma unroll
        for (int v = 0; v < V; ++v) {
          for (int other = part + kFew; other < kGroups; other += kFew)
            mine[v].merge(scratch[(other * V + v) * Lanes + lane]);
          scratch[(part * V + v) * Lanes + lane] = mine[v];
        }
    }
    __syncthreads();
#pragma unroll
    for (int v = 0; v < V; ++v) {
      mine[v] = scratch[v * Lanes + lane];
      for (int other = 1; other < (kGroups < kFew ? kGroups : kFew); ++other)
        mine[v].merge(scratch[(other * V + v) * Lanes + lane]);
    }
  }
}
} // namespace warpwright_rows
#endif
