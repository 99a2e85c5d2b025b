// Whole plans written into a user's file: what comes out, and why some cannot be.
#include "generator/text/states/write_plan.h"

#include "analysis/analyze.h"
#include "support/model/json.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::source;
using namespace warpwright::states;

namespace {

constexpr const char *kFile = R"cuda(#include <cstdio>
// What the kernel is for.
__global__ void saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
__device__ float helper(float v) { return v + 1; }
int main() {
  const int count = 1 << 14;
  float *d_x, *d_y;
  cudaMalloc(&d_x, count * sizeof(float));
  cudaMalloc(&d_y, count * sizeof(float));
  saxpy<<<(count + 255) / 256, 256>>>(count, 2.0f, d_x, d_y);
}
)cuda";

struct Original {
  State state;
  model::Task task;
};

Original original(const std::string &text = kFile) {
  const analysis::SourceFile file{"/project/file.cu", text};
  const auto facts = analysis::analyze(file, {}, {.tasks = true, .rules = false});
  REQUIRE(facts.kernels.size() == 1);
  REQUIRE(facts.kernels.front().task.inferred);
  return {{file, {}, "saxpy", {}, {}}, facts.kernels.front().task.task};
}

/// A plan as a language model writes it: the reference's arguments by their names.
model::Plan plan(const Original &from, const std::string &source, const std::string &launch) {
  model::Plan reference = from.task.reference;
  nlohmann::json json = nlohmann::json::parse(launch);
  auto step = model::plan_from_json({{"source", source}, {"steps", {{{"launch", json}}}}});
  REQUIRE_MESSAGE(step, (step ? "" : step.error().message));
  auto &made = std::get<model::LaunchStep>(step->steps.front());
  if (made.arguments.empty())
    made.arguments = std::get<model::LaunchStep>(reference.steps.front()).arguments;
  return *step;
}

constexpr const char *kOtherOrder = R"json([{"buffer": "y"}, {"buffer": "x"}, {"size": "count"}])json";

/// @param arguments JSON; empty: the reference's
std::string launch_of(const std::string &kernel, const std::string &grid, int block,
                      const std::string &shared = "0", const std::string &arguments = "[]") {
  return nlohmann::json{{"kernel", kernel},
                        {"grid", {grid}},
                        {"block", {block}},
                        {"shared_bytes", shared},
                        {"arguments", nlohmann::json::parse(arguments)}}
      .dump();
}

std::string written(const Original &from, const model::Plan &plan) {
  auto state = write_plan(from.state, from.task, plan);
  REQUIRE_MESSAGE(state, (state ? "" : state.error().message));
  return state->file.text;
}

std::string refused(const Original &from, const model::Plan &plan) {
  auto state = write_plan(from.state, from.task, plan);
  return state ? "written:\n" + state->file.text : state.error().message;
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

constexpr const char *kFast = R"cuda(#include <cuda_fp16.h>
// Doubles.
__device__ float twice(float v) { return 2 * v; }
extern "C" __global__ void fast(int n, float a, float *x, float *y) {
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 64 * gridDim.x)
    y[i] = a * x[i] + y[i];
}
)cuda";

} // namespace

TEST_CASE(
    "a plan's kernel takes the user's place under the user's name, its launch the user's launch") {
  const Original from = original();
  const std::string text =
      written(from, plan(from, kFast, launch_of("fast", "ceil_div(count, 128)", 64)));
  CHECK(has(text, "saxpy<<<(count + 127) / 128, 64>>>(count, 2.0f, d_x, d_y);"));
  CHECK(has(text, "#include <cstdio>\n#include <cuda_fp16.h>\n"));
  CHECK(has(text, "// Doubles.\n__device__ float twice"));
  CHECK(has(text, "// What the kernel is for.\n"));
  CHECK(has(text, "__global__ void saxpy(int n, float a, float *x, float *y) {\n  for"));
  CHECK(!has(text, "fast"));
  CHECK(!has(text, "extern"));
}

TEST_CASE("what was written leads back to the plan, and is a state like any other") {
  const Original from = original();
  const model::Plan answer = plan(from, kFast, launch_of("fast", "ceil_div(count, 64)", 64));
  const State state = with_plan(from.state, from.task, answer, "endpoint");
  CHECK(state.provenance.not_applicable == "");
  REQUIRE(state.moves.size() == 1);
  CHECK(is_rewrite({to_string(state.moves.front())}));
  auto rendered = render_plan(state, from.task);
  REQUIRE(rendered);
  CHECK(has(rendered->source, "i += 64 * gridDim.x"));
  CHECK(std::get<model::LaunchStep>(rendered->steps.front()).block[0] == symbolic::Expression(64));
  CHECK(!legal_moves(state).empty());
}

TEST_CASE("a launch that stays the same is left as it is written") {
  const Original from = original();
  const std::string source = "__global__ void saxpy(int n, float a, float *x, float *y) {\n  int i "
                             "= threadIdx.x + 256 * blockIdx.x;\n"
                             "  if (i < n)\n    y[i] += a * x[i];\n}\n";
  CHECK(has(written(from, plan(from, source, launch_of("saxpy", "(count + 255) / 256", 256))),
            "saxpy<<<(count + 255) / 256, 256>>>(count, 2.0f, d_x, d_y);"));
}

TEST_CASE("arguments in another order and shared memory are written at the launch") {
  const Original from = original();
  const std::string source =
      "__global__ void k(float *y, const float *x, int n) {\n  extern __shared__ float tile[];\n"
      "  int i = threadIdx.x + 64 * blockIdx.x;\n  if (i < n) {\n    tile[threadIdx.x] = x[i];\n"
      "    y[i] += 2.0f * tile[threadIdx.x];\n  }\n}\n";
  const std::string text = written(
      from, plan(from, source, launch_of("k", "ceil_div(count, 64)", 64, "64 * 4", kOtherOrder)));
  CHECK(has(text, "saxpy<<<(count + 63) / 64, 64, 64 * 4>>>(d_y, d_x, count);"));
}

TEST_CASE("a template's arguments are written at the launch") {
  const Original from = original();
  const std::string source =
      "template <int Block>\n__global__ void k(int n, float a, float *x, float *y) {\n"
      "  int i = threadIdx.x + Block * blockIdx.x;\n  if (i < n)\n    y[i] += a * x[i];\n}\n";
  const std::string text =
      written(from, plan(from, source, launch_of("k<128>", "ceil_div(count, 128)", 128)));
  CHECK(has(text, "saxpy<128><<<(count + 127) / 128, 128>>>(count"));
  CHECK(has(text, "template <int Block>\n__global__ void saxpy("));
}

TEST_CASE("what a file with one launch cannot say is refused with the reason") {
  const Original from = original();
  const std::string launch = launch_of("fast", "ceil_div(count, 64)", 64);
  model::Plan answer = plan(from, kFast, launch);

  model::Plan two = answer;
  two.steps.push_back(two.steps.front());
  CHECK(refused(from, two) == "it has 2 steps, and the file launches one kernel");

  model::Plan scratch = answer;
  scratch.temporaries = {{"partial", model::Dtype::Float32, symbolic::Expression(8)}};
  CHECK(has(refused(from, scratch), "additional buffers"));

  model::Plan options = answer;
  options.options = {"--use_fast_math"};
  CHECK(has(refused(from, options), "--use_fast_math"));

  CHECK(has(
      refused(from,
              plan(from, std::string("__device__ float helper(float v) { return v; }\n") + kFast,
                   launch)),
      "the file declares another helper"));
  CHECK(has(refused(from, plan(from, std::string("#if 1\n") + kFast + "#endif\n", launch)),
            "preprocessor"));
  CHECK(
      has(refused(from, plan(from, "__device__ int nothing;\n", launch)), "does not define fast"));
  CHECK(has(
      refused(from, plan(from, "__global__ void fast(int n, float a, float4 *x, float4 *y) {}\n",
                         launch)),
      "the launch in the file does not fit it"));

  model::Plan much = plan(from, kFast, launch_of("fast", "ceil_div(count, 64)", 64, "65536"));
  CHECK(has(refused(from, much), "48 KiB"));
}

TEST_CASE("a declaration that the file has alike is not written again") {
  const Original from = original();
  const std::string source =
      std::string("__device__ float helper(float v) {\n  return v + 1; // the same\n}\n") + kFast;
  const std::string text =
      written(from, plan(from, source, launch_of("fast", "ceil_div(count, 64)", 64)));
  CHECK(text.find("float helper(") == text.rfind("float helper("));
}

TEST_CASE("a plan that cannot be written is a state of the plan alone, told apart by its hash") {
  const Original from = original();
  model::Plan scratch = plan(from, kFast, launch_of("fast", "ceil_div(count, 64)", 64));
  scratch.temporaries = {{"partial", model::Dtype::Float32, symbolic::Expression(8)}};
  const State state = with_plan(from.state, from.task, scratch, "endpoint");
  CHECK(state.file.text == from.state.file.text);
  CHECK(has(state.provenance.not_applicable, "additional buffers"));
  auto rendered = render_plan(state, from.task);
  REQUIRE(rendered);
  CHECK(rendered->source == kFast);
  CHECK(is_rewrite(rendered->moves));
}
