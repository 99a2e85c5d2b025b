// Every template and move of the examples computes on the CPU backend what the original computes, on odd sizes.
//
// Drives the real runner and its CPU worker; reports that it was skipped where they are not built. The examples'
// sizes are cut down, because the CPU backend proves correctness and not speed.
#include "runner/connect/connect.h"
#include "support/model/json.h"
#include "tests/generator/check_move.h"
#include "tests/generator/example_states.h"

#include <filesystem>
#include <iostream>

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

std::unique_ptr<runner::BlockingClient> connect_or_skip() {
  const std::string runner = WARPWRIGHT_BINARY_DIR "/warpwright-runner";
  if (!std::filesystem::exists(runner) ||
      !std::filesystem::exists(WARPWRIGHT_BINARY_DIR "/warpwright-worker-cpu")) {
    std::cout << "runner or CPU worker is not built: all cases skipped\n";
    return nullptr;
  }
  auto client = runner::BlockingClient::connect("stdio:" + runner + " serve");
  REQUIRE_MESSAGE(client, (client ? "" : describe(client.error())));
  return std::move(*client);
}

void check_verified(runner::BlockingClient &client, const model::Task &task, const State &state) {
  auto plan = render_plan(state, task);
  REQUIRE_MESSAGE(plan, moves_text(state), ": ", (plan ? "" : describe(plan.error())));
  runner::VerifyOptions options;
  options.device = "cpu";
  options.measure = false;
  auto verdict = client.verify(task, *plan, options, {});
  REQUIRE_MESSAGE(verdict, (verdict ? "" : describe(verdict.error())));
  CHECK_MESSAGE(verdict->outcome == model::Outcome::Verified, moves_text(state), ": ",
                verdict->message);
}

} // namespace

TEST_CASE("every legal move of every example is right on odd sizes") {
  auto client = connect_or_skip();
  if (!client)
    return;
  for (Example &example : all_examples()) {
    shrink(example.task);
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
