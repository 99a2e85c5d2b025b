// Loops that a group of threads shares compute on the CPU backend what the original computes.
//
// Sizes are odd, so that rows end inside a group and blocks are not full.
#include "tests/generator/cpu_runner.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::test;

namespace {

const MoveLists kWarps{{"split_loop(threads=4)"}, {"split_loop(threads=8)"}, {"split_loop(threads=32)"}};

} // namespace

TEST_CASE("rows: several accumulators of several kinds, a step, a loop that runs down") {
  if (auto client = connect_or_skip())
    check_moves_on_cpu(*client, R"cuda(
__global__ void ^rows(const float *x, const int *bits, float *out, int *sets, int n, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 1.0f, largest = x[i * columns], product = 1.0f;
  for (int j = 0; j < columns; j++) {
    const float value = x[i * columns + j];
    if (value < 0.5f)
      continue;
    sum += value;
    sum -= 0.25f;
    largest = fmaxf(largest, value);
    product *= 1.0f + value * 0.001f;
  }
  float smallest = 3.0f;
  unsigned int all = 0, some = 7;
  bool is_found = false;
  for (int j = columns - 1; j >= 1; j -= 2) {
    if (x[i * columns + j] < smallest) smallest = x[i * columns + j];
    all |= bits[j];
    some ^= bits[j];
    if (x[j] > 0.99f)
      is_found = true;
  }
  out[i] += sum + largest * product + smallest;
  sets[i] = all + some % 100 + is_found;
}
int main() {
  int n = 37, columns = 45;
  float *x, *out;
  int *bits, *sets;
  cudaMalloc(&x, n * columns * sizeof(float));
  cudaMalloc(&bits, columns * sizeof(int));
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&sets, n * sizeof(int));
  rows<<<(n + 31) / 32, 32>>>(x, bits, out, sets, n, columns);
}
)cuda",
                       kWarps);
}

TEST_CASE("sums of a template's type") {
  if (auto client = connect_or_skip())
    check_moves_on_cpu(*client, R"cuda(
template <typename T>
__global__ void ^filter(const T *x, const T *w, T *out, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    T sum = 0;
    for (int k = 0; k < taps; k++)
      sum += x[i + k] * w[k];
    out[i] = sum;
  }
}
int main() {
  int n = 37, taps = 45;
  double *x, *w, *out;
  cudaMalloc(&x, (n + taps) * sizeof(double));
  cudaMalloc(&w, taps * sizeof(double));
  cudaMalloc(&out, n * sizeof(double));
  filter<double><<<(n + 31) / 32, 32>>>(x, w, out, n, taps);
}
)cuda",
                       kWarps);
}

TEST_CASE("bounds that depend on the element, counters declared outside, arrays and members") {
  if (auto client = connect_or_skip())
    check_moves_on_cpu(*client, R"cuda(
struct Pair { double x, y; };
__global__ void ^lengths(const double *x, double *out, double *table, int n, int most) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) {
    Pair total = {0, 2};
    double parts[3] = {1, 2, 3};
    int j, k;
    const int begin = i % 5, end = begin + i % (most + 1);
    for (j = begin; j < end; ++j) {
      const double value = x[j];
      total.x += value;
      total.y += value * value;
      for (k = 0; k < 3; k++)
        parts[k] += value * k;
    }
    for (j = 0; j < most; ++j)
      table[i * most + j] = x[j] * i;
    for (k = 0; k < 3; ++k)
      out[3 * i + k] = parts[k] + total.x - total.y;
  }
}
int main() {
  int n = 70, most = 19;
  double *x, *out, *table;
  cudaMalloc(&x, 32 * sizeof(double));
  cudaMalloc(&out, 3 * n * sizeof(double));
  cudaMalloc(&table, n * most * sizeof(double));
  lengths<<<(n + 15) / 16, 16>>>(x, out, table, n, most);
}
)cuda",
                       kWarps);
}

TEST_CASE("the first and the last of equal values are selected as by one thread") {
  if (auto client = connect_or_skip())
    check_moves_on_cpu(*client, R"cuda(
__global__ void ^nearest(const float *x, int *first, int *last, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int least = 1000, most = -1000, index = -1, at = -1, twice = 0;
  for (int j = 0; j < count; ++j) {
    const int value = (int)(x[j] * 4) + i % 3;
    if (value < least) {
      index = j;
      least = value;
    }
    if (value >= most) {
      most = value;
      at = j;
      twice = 2 * j;
    }
  }
  int highest = -5, down = -1;
  for (int j = count - 1; j >= 0; --j) {
    if (highest < (int)(x[j] * 4)) {
      highest = (int)(x[j] * 4);
      down = j;
    }
  }
  first[i] = index * 100 + least + down * 10000;
  last[i] = at + twice + most;
}
int main() {
  int n = 37, count = 61;
  float *x;
  int *first, *last;
  cudaMalloc(&x, count * sizeof(float));
  cudaMalloc(&first, n * sizeof(int));
  cudaMalloc(&last, n * sizeof(int));
  nearest<<<(n + 31) / 32, 32>>>(x, first, last, n, count);
}
)cuda",
                       kWarps);
}

TEST_CASE("a sequential loop around, conditions, atomics, and memory that is read back") {
  if (auto client = connect_or_skip())
    check_moves_on_cpu(*client, R"cuda(
__global__ void ^steps(const float *x, float *out, int *counts, int n, int columns) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = 0.5f;
    for (int step = 0; step < 3; ++step) {
      float sum = 0;
      for (int j = step; j < columns; ++j)
        sum += x[j] * out[i];
      if (sum > 2)
        out[i] = sum * 0.125f;
      else
        for (int j = 0; j < columns; ++j) {
          if (x[j] > sum)
            atomicAdd(&counts[i % 3], 1);
        }
    }
    if (i % 2) continue;
    float last = out[i];
    out[i] = last + 1;
  }
}
int main() {
  int n = 45, columns = 21;
  float *x, *out;
  int *counts;
  cudaMalloc(&x, columns * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&counts, 3 * sizeof(int));
  steps<<<2, 16>>>(x, out, counts, n, columns);
}
)cuda",
                       kWarps);
}

TEST_CASE("two dimensions: threads of a row of the block stay in one warp") {
  if (auto client = connect_or_skip())
    check_moves_on_cpu(*client, R"cuda(
__device__ float weight(const float *x, int at) { return x[at] * 0.5f; }
__global__ void ^product(const float *a, const float *b, float *c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && col < n) {
    float sum = 0;
    for (int l = 0; l < k; ++l)
      sum += weight(a, row * k + l) * b[l * n + col];
    c[row * n + col] = sum + threadIdx.x % 8 + blockIdx.x;
  }
}
int main() {
  int m = 13, n = 27, k = 19;
  float *a, *b, *c;
  cudaMalloc(&a, m * k * sizeof(float));
  cudaMalloc(&b, k * n * sizeof(float));
  cudaMalloc(&c, m * n * sizeof(float));
  product<<<dim3((n + 7) / 8, (m + 7) / 8), dim3(8, 8)>>>(a, b, c, m, n, k);
}
)cuda",
                       {{"split_loop(threads=4)"}, {"split_loop(threads=8)"}, {"split_loop(threads=16)"}});
}

TEST_CASE("blocks of one thread become warps or blocks") {
  if (auto client = connect_or_skip())
    check_moves_on_cpu(*client, R"cuda(
__global__ void ^serial(const float *x, float *out, float *total, int n) {
  float sum = 0, largest = -1.0f;
  bool is_large = false;
  for (int i = 0; i < n; ++i) {
    out[i] = x[i] * 2;
    sum += x[i];
    largest = x[i] > largest ? x[i] : largest;
    if (x[i] > 0.99f)
      is_large = true;
  }
  float again = 0;
  for (int i = 0; i < n; ++i)
    again += out[n - 1 - i];
  total[0] = sum + largest + again;
  total[1] = is_large;
}
int main() {
  int n = 3001;
  float *x, *out, *total;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&total, 2 * sizeof(float));
  serial<<<1, 1>>>(x, out, total, n);
}
)cuda",
                       {{"split_loop(threads=8)"}, {"split_loop(threads=32)"}, {"split_loop(threads=256)"},
                        {"split_loop(threads=1024)"}});
}
