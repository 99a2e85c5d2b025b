// Weights turned from (output channel, input channel, tap) to channels-last: (output channel, tap,
// input channel), and multiplied with a factor for each output channel.
#ifndef WARPWRIGHT_TURN_CHANNELS
#define WARPWRIGHT_TURN_CHANNELS

namespace warpwright_turn {

// Elements that a thread reads or writes at once.
template <typename T> struct alignas(4 * sizeof(T)) Four {
  T of[4];
};

template <typename T> __device__ __forceinline__ T scaled(T value, T factor) {
  return T(float(value) * float(factor));
}
__device__ __forceinline__ double scaled(double value, double factor) { return value * factor; }

// One of the blocks of a weight: `rows` output channels, and `chunk` input channels of each, with all their taps. There
// is one row where a chunk is a part of the channels. `tile` is shared memory for them.
// @param factors a number for each output channel; null: none
template <int kThreads, typename T>
__device__ __forceinline__ void turn(const T *__restrict__ from, const T *__restrict__ factors, T *__restrict__ to,
                                     int outputs, int channels, int taps, int rows, int chunk, int block, T *tile) {
  const int blocks = (channels + chunk - 1) / chunk;
  const int first = block % blocks * chunk, row = block / blocks * rows;
  const int count = min(chunk, channels - first), size = count * taps;
  const int elements = min(rows, outputs - row) * size;
  from += ((long long)row * channels + first) * taps;
  to += (long long)row * channels * taps + first;
  const bool wide = channels % 4 == 0 && count % 4 == 0 &&
                    ((unsigned long long)from | (unsigned long long)to) % sizeof(Four<T>) == 0;
  if (wide) {
    for (int i = threadIdx.x * 4; i < elements; i += kThreads * 4)
      *(Four<T> *)(tile + i) = *(const Four<T> *)(from + i);
  } else {
    for (int i = threadIdx.x; i < elements; i += kThreads)
      tile[i] = from[i];
  }
  __syncthreads();
  const int width = wide ? 4 : 1;
  for (int i = threadIdx.x * width; i < elements; i += kThreads * width) {
    const int own = i / size, tap = i % size / count, channel = i % size % count;
    const T *source = tile + own * size + channel * taps + tap;
    T *target = to + (long long)own * size + (long long)tap * channels + channel;
    Four<T> values;
    for (int j = 0; j < width; ++j)
      values.of[j] = factors ? scaled(source[j * taps], factors[row + own]) : source[j * taps];
    if (wide)
      *(Four<T> *)target = values;
    else
      *target = values.of[0];
  }
}

} // namespace warpwright_turn
#endif
