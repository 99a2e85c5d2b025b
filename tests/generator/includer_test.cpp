// Kernels of a header that another file includes and launches: moves change both texts.
#include "generator/text/states/generator.h"

#include "analysis/analyze.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace warpwright;

namespace {

constexpr const char *kHeader = R"cuda(// Kernels of the program.
__global__ void scale(const float *x, float *y, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = factor * x[i];
}
)cuda";

constexpr const char *kLaunching = R"cuda(
int main() {
  const int count = 1 << 20;
  float *d_x, *d_y;
  cudaMalloc(&d_x, count * sizeof(float));
  cudaMalloc(&d_y, count * sizeof(float));
  scale<<<(count + 127) / 128, 128>>>(d_x, d_y, 2.0f, count);
  return 0;
}
)cuda";

const std::string kMain = std::string("#include \"kernels.h\"\n") + kLaunching;

/// The task of the kernel, from one file with all the code.
model::Task task_of_kernel() {
  const auto facts = analysis::analyze({"/p/one.cu", std::string(kHeader) + kLaunching}, {}, {.tasks = true, .rules = false});
  REQUIRE(facts.kernels.size() == 1);
  REQUIRE(facts.kernels.front().task.inferred);
  return facts.kernels.front().task.task;
}

/// @param others texts of further files that include the header
source::State header_state(const states::Texts &others = {}) {
  analysis::ParseSettings settings;
  settings.included_by = "/p/main.cu";
  states::Texts texts = others;
  for (const auto &[path, text] : others)
    settings.other_includers.push_back(path);
  texts["/p/main.cu"] = kMain;
  return states::state_of_file({"/p/kernels.h", kHeader}, settings, "scale", task_of_kernel(),
                               arch::gpu_or_cpu(std::nullopt), texts);
}

bool is_offered(const source::State &state, const std::string &name) {
  const auto moves = states::legal_moves(state);
  return std::ranges::any_of(moves, [&](const source::Move &move) { return move.name == name; });
}

source::State after(const source::State &state, const std::string &move) {
  auto next = states::apply_move(state, source::move_from_string(move).value());
  REQUIRE_MESSAGE(next, describe(next.error()));
  return *next;
}

} // namespace

TEST_CASE("a move on a kernel of a header changes the launch in the file that includes it") {
  const source::State state = header_state();
  CHECK(state.includer.path == "/p/main.cu");
  const source::State next = after(state, "block_size(x=256)");
  CHECK(next.file.text == kHeader);
  CHECK(next.includer.text.contains("scale<<<(count + 255) / 256, 256>>>(d_x, d_y, 2.0f, count);"));
  CHECK(next.text() != state.text());
  const auto plan = states::render_plan(next, task_of_kernel());
  REQUIRE_MESSAGE(plan, describe(plan.error()));
  const auto &launch = std::get<model::LaunchStep>(plan->steps.back());
  CHECK(launch.block[0].evaluate({}) == 256);
  CHECK(launch.grid[0].evaluate(task_of_kernel().sizes) == 4096);
}

TEST_CASE("moves on both texts follow each other") {
  const source::State next = after(after(header_state(), "vectorize(width=4)"), "block_size(x=256)");
  CHECK(next.file.text.contains("float4"));
  CHECK(next.includer.text.contains("256>>>"));
  CHECK(next.includer.text.starts_with("#include \"kernels.h\"\n"));
  CHECK(states::render_plan(next, task_of_kernel()).has_value());
}

TEST_CASE("the launch stays where another file may launch the kernel too") {
  const source::State state = header_state({{"/p/second.cu", "#include \"kernels.h\"\nvoid f() { scale<<<1, 128>>>(0, 0, 1.0f, 9); }\n"}});
  CHECK(state.includer.path.empty());
  CHECK_FALSE(is_offered(state, "block_size"));
  CHECK(is_offered(state, "restrict_const"));
  CHECK(is_offered(header_state({{"/p/second.cu", "#include \"kernels.h\"\nint unrelated;\n"}}), "block_size"));
}
