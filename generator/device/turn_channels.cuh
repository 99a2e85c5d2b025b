// Weights turned from (output channel, input channel, tap) to channels-last: (output channel, tap,
// input channel).
#ifndef WARPWRIGHT_TURN_CHANNELS
#define WARPWRIGHT_TURN_CHANNELS

namespace warpwright_turn {

// One of the blocks of a weight: the taps of up to `chunk` input channels of one output channel,
// read and written consecutively. `tile` is shared memory for them.
template <int kThreads, typename T>
__device__ __forceinline__ void turn(const T *__restrict__ from, T *__restrict__ to, int channels, int taps, int chunk,
                                     int block, T *tile) {
  const int blocks = (channels + chunk - 1) / chunk;
  const int first = block % blocks * chunk;
  const int count = min(chunk, channels - first), elements = count * taps;
  const long long row = (long long)(block / blocks) * channels * taps;
  for (int i = threadIdx.x; i < elements; i += kThreads)
    tile[i] = from[row + (long long)first * taps + i];
  __syncthreads();
  for (int i = threadIdx.x; i < elements; i += kThreads)
    to[row + (long long)(i / count) * channels + first + i % count] = tile[i % count * taps + i / count];
}

} // namespace warpwright_turn
#endif
