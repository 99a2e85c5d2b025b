// Moves on the elements of arrays, on kernels in the shapes of real programs: vectors, cache hints,
// 32-bit indices and constants. Each choice of each move computes on the CPU backend what the kernel
// computes, alone and after vectors.
#include "tests/generator/check_move.h"
#include "tests/generator/cpu_runner.h"

#include <algorithm>
#include <set>

using namespace warpwright;
using namespace warpwright::test;

namespace {

const std::set<std::string> kMoves{"vectorize", "cache_hints", "narrow_index", "constant_arguments"};

/// Moves that the kernel must have, with each of their choices right.
struct Case {
  std::vector<std::string> offered;
  std::string text;
};

const std::vector<Case> kCases{
    {{"vectorize", "cache_hints"}, R"cuda(
__global__ void ^mix(const unsigned char *mask, const short *counts, const double *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = mask[i] > 100 ? counts[i] : 1;
  if (v < 0) { y[i] = v; return; }
  y[i] = v + x[i];
}
int main() {
  int n = 1003;
  unsigned char *mask; short *counts; double *x; float *y;
  cudaMalloc(&mask, n);
  cudaMalloc(&counts, n * sizeof(short));
  cudaMalloc(&x, n * sizeof(double));
  cudaMalloc(&y, n * sizeof(float));
  mix<<<(n + 63) / 64, 64>>>(mask, counts, x, y, n);
}
)cuda"},
    {{"vectorize", "cache_hints", "constant_arguments"}, R"cuda(
__global__ void ^rows(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int at = y * w + x;
  if (x < w && y < h) {
    float left = x > 0 ? in[at - 1] : 0;
    out[at] = in[at] * 2 + left;
  }
}
int main() {
  int w = 70, h = 13;
  float *in, *out;
  cudaMalloc(&in, w * h * sizeof(float));
  cudaMalloc(&out, w * h * sizeof(float));
  rows<<<dim3((w + 31) / 32, (h + 3) / 4), dim3(32, 4)>>>(in, out, w, h);
}
)cuda"},
    {{"vectorize"}, R"cuda(
struct Pair { float x, y; };
__global__ void ^swap(const Pair *in, Pair *out, const float *rgb, float *gray, int n) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) {
    Pair p = in[i];
    out[i].x = p.y;
    out[i].y = p.x;
    gray[i] = rgb[3 * i] + rgb[3 * i + 1] * 2 + rgb[3 * i + 2];
  }
}
int main() {
  int n = 517;
  Pair *in, *out; float *rgb, *gray;
  cudaMalloc(&in, n * sizeof(Pair));
  cudaMalloc(&out, n * sizeof(Pair));
  cudaMalloc(&rgb, 3 * n * sizeof(float));
  cudaMalloc(&gray, n * sizeof(float));
  swap<<<(n + 127) / 128, 128>>>(in, out, rgb, gray, n);
}
)cuda"},
    {{"vectorize", "narrow_index"}, R"cuda(
__global__ void ^add(const int *a, const int *b, int *c, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  size_t stride = (size_t)blockDim.x * gridDim.x;
  while (i < n) {
    c[i] = a[i] - b[i] * 3;
    i += stride;
  }
}
int main() {
  size_t n = 5003;
  int *a, *b, *c;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMalloc(&c, n * sizeof(int));
  add<<<8, 64>>>(a, b, c, n);
}
)cuda"},
    {{"vectorize"}, R"cuda(
__global__ void ^normalize(const float *in, float *out, int n) {
  __shared__ float sums[64];
  const float *row = in + blockIdx.x * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += row[i] * row[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  float all = 0;
  for (int k = 0; k < 64; ++k)
    all += sums[k];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = row[i] / (1 + all);
}
int main() {
  int n = 204, rows = 9;
  float *in, *out;
  cudaMalloc(&in, n * rows * sizeof(float));
  cudaMalloc(&out, n * rows * sizeof(float));
  normalize<<<rows, 64>>>(in, out, n);
}
)cuda"},
    {{"narrow_index", "constant_arguments", "cache_hints"}, R"cuda(
__global__ void ^shuffle(const float *in, float *out, long long channels, long long height, long long width, long long total) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < total; i += (long long)blockDim.x * gridDim.x) {
    long long w = i % width, h = i / width % height, c = i / (width * height) % channels;
    long long n = i / (width * height * channels);
    out[i] = in[((n * width + w) * height + h) * channels + c];
  }
}
int main() {
  long long channels = 3, height = 7, width = 11, total = 2 * 3 * 7 * 11;
  float *in, *out;
  cudaMalloc(&in, total * sizeof(float));
  cudaMalloc(&out, total * sizeof(float));
  shuffle<<<4, 64>>>(in, out, channels, height, width, total);
}
)cuda"},
    {{"constant_arguments", "vectorize"}, R"cuda(
template <typename T, int kShift>
__global__ void ^blend(const T *a, T *b, int n, int mode, int period) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int phase = i % (period + kShift);
    b[i] = mode == 2 ? a[i] + phase : a[i] - phase;
  }
}
int main() {
  int n = 999, mode = 2, period = 5;
  short *a, *b;
  cudaMalloc(&a, n * sizeof(short));
  cudaMalloc(&b, n * sizeof(short));
  blend<short, 2><<<(n + 63) / 64, 64>>>(a, b, n, mode, period);
}
)cuda"}};

} // namespace

TEST_CASE("vectors, cache hints, 32-bit indices and constants are right on kernels of real shapes") {
  auto client = connect_or_skip();
  if (!client)
    return;
  for (const Case &one : kCases) {
    const source::State marked = state_of(one.text);
    const auto facts = analysis::analyze(marked.file);
    REQUIRE(facts.kernels.size() == 1);
    const auto &task = facts.kernels[0].task;
    REQUIRE_MESSAGE(task.inferred, marked.kernel, ": ", (task.missing.empty() ? "" : task.missing.front().question));
    const source::State state =
        states::state_of_file(marked.file, {}, marked.kernel, task.task, arch::gpu_named("cpu").value());
    std::set<std::string> offered;
    for (const source::Move &move : states::legal_moves(state)) {
      if (!kMoves.contains(move.name))
        continue;
      offered.insert(move.name);
      const auto after = states::apply_move(state, move);
      REQUIRE_MESSAGE(after, (after ? "" : describe(after.error())));
      CAPTURE(after->file.text);
      CHECK(parse_errors(*after) == "");
      check_verified(*client, task.task, *after);
      if (move.name != "vectorize" || move.parameters.at("width") != "4")
        continue;
      for (const source::Move &next : states::legal_moves(*after))
        if (kMoves.contains(next.name))
          check_verified(*client, task.task, *states::apply_move(*after, next));
    }
    for (const std::string &name : one.offered)
      CHECK_MESSAGE(offered.contains(name), marked.kernel, ": ", name);
  }
}
