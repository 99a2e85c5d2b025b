// Times the bad and the good code of a rule's page against each other: called by the program that
// measure.py writes for each page. Both run on the same buffers; their results are compared first.
// Then they run in pairs in random order, with a cold L2 cache. Prints the samples, one per line.
// Thread: main.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

namespace harness {

inline void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Floats on the device. They are small whole numbers, so that sums below 2^24 are exact.
class Buffer {
public:
  explicit Buffer(std::size_t count) : start_(count) {
    std::mt19937 random(static_cast<unsigned>(count));
    for (float &value : start_)
      value = static_cast<float>(random() % 4);
    check(cudaMalloc(&data_, count * sizeof(float)), "cudaMalloc");
    reset();
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  void reset() { check(cudaMemcpy(data_, start_.data(), start_.size() * sizeof(float), cudaMemcpyHostToDevice), "copy"); }
  std::vector<float> read() const {
    std::vector<float> values(start_.size());
    check(cudaMemcpy(values.data(), data_, values.size() * sizeof(float), cudaMemcpyDeviceToHost), "copy back");
    return values;
  }
  operator float *() { return data_; }

private:
  std::vector<float> start_;
  float *data_ = nullptr;
};

using Code = std::function<void()>;

inline std::vector<std::vector<float>> results(const std::vector<Buffer *> &buffers, const Code &code) {
  for (Buffer *buffer : buffers)
    buffer->reset();
  code();
  check(cudaDeviceSynchronize(), "run");
  std::vector<std::vector<float>> values;
  for (Buffer *buffer : buffers)
    values.push_back(buffer->read());
  return values;
}

/// Ends the program if the results differ by more than sums in another order, or if the code changes nothing.
inline void compare(const std::vector<Buffer *> &buffers, const Code &bad, const Code &good) {
  const auto before = results(buffers, [] {}), expected = results(buffers, bad), found = results(buffers, good);
  if (before == expected) {
    std::fprintf(stderr, "the bad code wrote nothing\n");
    std::exit(1);
  }
  for (std::size_t b = 0; b < expected.size(); ++b)
    for (std::size_t i = 0; i < expected[b].size(); ++i)
      if (!(std::abs(expected[b][i] - found[b][i]) <= 1e-4f * (1 + std::abs(expected[b][i])))) {
        std::fprintf(stderr, "buffer %zu differs at %zu: %g and %g\n", b, i, expected[b][i], found[b][i]);
        std::exit(1);
      }
}

class Timer {
public:
  Timer() {
    int device_l2 = 0;
    check(cudaDeviceGetAttribute(&device_l2, cudaDevAttrL2CacheSize, 0), "size of the L2 cache");
    flush_bytes_ = 3 * static_cast<std::size_t>(device_l2);
    check(cudaMalloc(&flush_, flush_bytes_), "cudaMalloc");
    check(cudaEventCreate(&begin_), "event");
    check(cudaEventCreate(&end_), "event");
  }
  /// Device time of the code's launches, after the L2 cache was overwritten.
  float microseconds(const Code &code) {
    check(cudaMemsetAsync(flush_, 0, flush_bytes_), "flush");
    check(cudaEventRecord(begin_), "event");
    code();
    check(cudaEventRecord(end_), "event");
    check(cudaEventSynchronize(end_), "run");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "event");
    return 1000 * milliseconds;
  }

private:
  void *flush_ = nullptr;
  std::size_t flush_bytes_ = 0;
  cudaEvent_t begin_{}, end_{};
};

/// Prints "BAD GOOD" in microseconds for each pair.
inline int run(const std::vector<Buffer *> &buffers, const Code &bad, const Code &good, int pairs) {
  compare(buffers, bad, good);
  Timer timer;
  std::mt19937 random(1);
  const int warm = pairs / 5;
  for (int pair = -warm; pair < pairs; ++pair) {
    const bool bad_first = random() % 2 == 0;
    const float first = timer.microseconds(bad_first ? bad : good), second = timer.microseconds(bad_first ? good : bad);
    if (pair >= 0)
      std::printf("%.3f %.3f\n", bad_first ? first : second, bad_first ? second : first);
  }
  return 0;
}

} // namespace harness
