// Every template and move of the examples computes on the CPU backend what the original computes, on odd sizes.
//
// Drives the real runner and its CPU worker; reports that it was skipped where they are not built. The examples'
// sizes are cut down, because the CPU backend proves correctness and not speed.
#include "support/model/json.h"
#include "tests/generator/check_move.h"
#include "tests/generator/cpu_verifier.h"

using namespace warpwright;
using namespace warpwright::source;
using namespace warpwright::states;

using namespace warpwright::test;

namespace {

constexpr std::int64_t kLargeSize = 100'000;

/// Sizes that the CPU computes at once: an odd one to verify, tails and exact multiples to check.
void shrink(model::Task &task) {
  const symbolic::Sizes original = task.sizes;
  const auto bind = [&](std::int64_t only, std::int64_t first, std::int64_t other) {
    symbolic::Sizes sizes;
    for (const auto &[name, value] : original)
      sizes[name] = original.size() == 1 ? only : sizes.empty() ? first : other;
    return sizes;
  };
  const bool long_array = original.size() == 1 && original.begin()->second > kLargeSize;
  task.sizes = bind(long_array ? 10007 : 131, 67, 301);
  task.check_sizes = {bind(long_array ? 33 : 5, 3, 5), bind(long_array ? 1024 : 128, 128, 64)};
  for (model::Buffer &buffer : task.buffers)
    if (auto extent = buffer.extent.evaluate({});
        extent && *extent > kLargeSize && original.size() == 1)
      buffer.extent = *symbolic::Expression::parse(original.begin()->first);
}

} // namespace

TEST_CASE("every legal move of every example is right on odd sizes") {
  auto client = connect_or_skip();
  if (!client)
    return;
  for (Example &example : all_examples()) {
    shrink(example.task);
    example.state.arguments = argument_values(example.task);
    for_each_state(example, false,
                   [&](const State &state) { check_verified(*client, example.task, state); });
  }
}

TEST_CASE("products with transposed operands, alpha and beta are right on odd sizes") {
  auto client = connect_or_skip();
  if (!client)
    return;
  for (const auto &[a, b] : {std::pair{"A[row * K + k]", "B[col * K + k]"},
                             {"A[k * M + row]", "B[k * N + col]"},
                             {"A[k * M + row]", "B[col * K + k]"}}) {
    const State state = state_of(std::string(R"cuda(
__global__ void ^sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
      acc += )cuda") + a + " * " +
                                 b + R"cuda(;
    C[row * N + col] = alpha * acc + beta * C[row * N + col];
  }
}
int main() {
  int M = 70, N = 131, K = 37;
  float *a, *b, *c;
  cudaMalloc(&a, M * K * sizeof(float));
  cudaMalloc(&b, K * N * sizeof(float));
  cudaMalloc(&c, M * N * sizeof(float));
  dim3 block(16, 16);
  dim3 grid((N + 15) / 16, (M + 15) / 16);
  sgemm<<<grid, block>>>(M, N, K, 1.5f, a, b, 0.5f, c);
}
)cuda");
    const auto facts = analysis::analyze(state.file);
    REQUIRE(facts.kernels.size() == 1);
    REQUIRE(facts.kernels[0].task.inferred);
    for (const Move &move : legal_moves(state))
      if (move.name == "gemm")
        check_verified(*client, facts.kernels[0].task.task, *apply_move(state, move));
  }
}

TEST_CASE("kernels with several elements a thread are right along one axis and along two") {
  auto client = connect_or_skip();
  if (!client)
    return;
  const std::vector<std::pair<std::string, std::vector<std::vector<std::string>>>> kernels{
      {R"cuda(
__global__ void ^forces(const float *x, const float *mass, float *out, int n, float soft) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float own = x[i];
  float sum = 0, largest = -1e30f;
  for (int j = 0; j < n; j++) {
    const float d = x[j] - own;
    const float pull = mass[j] * d * rsqrtf(d * d + soft);
    sum += pull;
    if (pull > largest) largest = pull;
  }
  for (int j = 0; j < i % 3; ++j)
    sum += 1;
  out[i] = sum + largest;
}
int main() {
  int n = 301;
  float *x, *mass, *out;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&mass, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  forces<<<(n + 63) / 64, 64>>>(x, mass, out, n, 0.5f);
}
)cuda",
       {{"thread_tile(axis=x,factor=4)"}, {"thread_tile(axis=x,factor=8)", "constant_arguments(n=301)"}}},
      {R"cuda(
__global__ void ^product(const double *a, const double *b, double *c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && col < n) {
    double sum[2];
    sum[0] = 0, sum[1] = 1;
    const double *line = a + row * k;
    for (int l = 0; l < k; ++l)
      sum[0] += line[l] * b[l * n + col];
    int odd = col & 1;
    if (odd)
      sum[1] += c[row * n + col];
    c[row * n + col] = sum[0] * 2 + sum[1];
  }
}
int main() {
  int m = 37, n = 70, k = 19;
  double *a, *b, *c;
  cudaMalloc(&a, m * k * sizeof(double));
  cudaMalloc(&b, k * n * sizeof(double));
  cudaMalloc(&c, m * n * sizeof(double));
  product<<<dim3((n + 15) / 16, (m + 7) / 8), dim3(16, 8)>>>(a, b, c, m, n, k);
}
)cuda",
       {{"thread_tile(axis=x,factor=2)"},
        {"thread_tile(axis=y,factor=4)"},
        {"thread_tile(axis=y,factor=4)", "thread_tile(axis=x,factor=2)"},
        {"constant_arguments(k=19)"}}},
      {R"cuda(
struct Ray { float x, y; };
__device__ float weight(float a, float b) { return a > b ? a - b : b; }
__global__ void ^rays(const Ray *rays, const float2 *lines, int *hits, unsigned count, unsigned lines_count) {
  const unsigned id = threadIdx.x + blockIdx.x * blockDim.x;
  if (id < count) {
    Ray ray = rays[id];
    int hit = -1;
    unsigned j = 0;
    while (j < lines_count) {
      float2 line = lines[j];
      for (int part = 0; part < 3; ++part) {
        if (weight(line.x, ray.x) + part < line.y - ray.y) { hit = j; }
      }
      ++j;
    }
    hits[id] = hit;
  }
}
int main() {
  unsigned count = 130, lines_count = 21;
  Ray *rays_in; float2 *lines; int *hits;
  cudaMalloc(&rays_in, count * sizeof(Ray));
  cudaMalloc(&lines, lines_count * sizeof(float2));
  cudaMalloc(&hits, count * sizeof(int));
  rays<<<(count + 31) / 32, 32>>>(rays_in, lines, hits, count, lines_count);
}
)cuda",
       {{"thread_tile(axis=x,factor=2)"}}},
      {R"cuda(
struct Force { double x, y; };
__global__ void ^pairs(const double *place, Force *force, double *energy, int n, int cells) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    energy[i] = 0;
    force[i].x = 1;
    for (int cell = 0; cell < cells; ++cell)
      for (int j = cell; j < n; j += cells) {
        const double d = place[i] - place[j];
        force[i].x += d;
        if (j > i)
          energy[i] = energy[i] + d * d;
      }
    force[i].y = energy[i];
  }
}
int main() {
  int n = 301, cells = 3;
  double *place, *energy; Force *force;
  cudaMalloc(&place, n * sizeof(double));
  cudaMalloc(&energy, n * sizeof(double));
  cudaMalloc(&force, n * sizeof(Force));
  pairs<<<(n + 63) / 64, 64>>>(place, force, energy, n, cells);
}
)cuda",
       {{"register_accumulator()"}, {"register_accumulator()", "thread_tile(axis=x,factor=2)"}}}};
  for (const auto &[text, lists] : kernels) {
    State state = state_of(text);
    const auto facts = analysis::analyze(state.file);
    REQUIRE(facts.kernels.size() == 1);
    const auto &task = facts.kernels[0].task;
    REQUIRE_MESSAGE(task.inferred, (task.missing.empty() ? "" : task.missing.front().question));
    state.arguments = argument_values(task.task);
    for (const std::vector<std::string> &moves : lists) {
      State changed = state;
      for (const std::string &move : moves) {
        auto next = apply_move(changed, *move_from_string(move));
        REQUIRE_MESSAGE(next, move, ": ", (next ? "" : describe(next.error())));
        changed = *next;
      }
      CAPTURE(changed.file.text);
      CHECK(parse_errors(changed) == "");
      check_verified(*client, task.task, changed);
    }
  }
}
