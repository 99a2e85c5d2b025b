// The methods of `warpwright env`: a whole round from a source to a plan, and what is refused.
#include "generator/search/env.h"
#include "generator/text/states/open_states.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace warpwright;
using rpc::Json;
using search::answer_env;

namespace {

constexpr const char *kSource = R"cuda(__global__ void fill(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = i;
}
int main() {
  const int n = 4096;
  float *y;
  cudaMalloc(&y, n * sizeof(float));
  fill<<<(n + 255) / 256, 256>>>(y, n);
}
)cuda";

Json call(const std::string &method, const Json &params) {
  auto outcome = answer_env(method, params);
  REQUIRE_MESSAGE(outcome, (outcome ? "" : outcome.error().message));
  return *outcome;
}

int error_code(const std::string &method, const Json &params) {
  auto outcome = answer_env(method, params);
  REQUIRE_FALSE(outcome);
  CHECK_FALSE(outcome.error().message.empty());
  return outcome.error().code;
}

} // namespace

TEST_CASE("env goes from a source to a plan of an edited state") {
  const Json tasks = call("tasks", {{"text", kSource}});
  REQUIRE(tasks["kernels"].size() == 1);
  const Json &kernel = tasks["kernels"][0];
  CHECK(kernel["name"] == "fill");
  CHECK(kernel["inferred"] == true);

  Json state{{"text", kSource}, {"kernel", "fill"}};
  const Json moves = call("moves", state);
  bool offered = false;
  for (const Json &move : moves["moves"])
    offered |= move["move"] == "vectorize(width=4)" && move["parameters"]["width"] == "4" &&
               move["is_template"] == false;
  CHECK(offered);

  Json step = state;
  step["move"] = "vectorize(width=4)";
  const Json next = call("apply", step);
  CHECK(next["moves"] == Json{"vectorize(width=4)"});

  const Json plan = call("plan", {{"text", next["text"]},
                                  {"kernel", "fill"},
                                  {"moves", next["moves"]},
                                  {"task", kernel["task"]}});
  CHECK(plan["moves"] == Json{"vectorize(width=4)"});
  CHECK(plan["source"].get<std::string>().find("float4") != std::string::npos);
}

TEST_CASE("a move that would only replace an earlier one is not offered") {
  const Json state{{"text", kSource}, {"kernel", "fill"}};
  Json step = state;
  step["move"] = "launch_bounds(blocks=2,threads=256)";
  const Json next = call("apply", step);
  const Json moves = call("moves", {{"text", next["text"]}, {"kernel", "fill"}, {"moves", next["moves"]}})["moves"];
  CHECK(std::ranges::none_of(moves, [](const Json &move) { return move["name"] == "launch_bounds"; }));
  CHECK(std::ranges::any_of(moves, [](const Json &move) { return move["name"] == "vectorize"; }));
}

TEST_CASE("with the task, env offers moves that need values of the launch") {
  const std::string source = R"cuda(__global__ void sums(const float *x, float *y, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < width; ++j)
    sum += x[i * width + j];
  y[i] = sum;
}
int main() {
  const int n = 4096;
  float *x, *y;
  cudaMalloc(&x, n * 25 * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  sums<<<(n + 255) / 256, 256>>>(x, y, n, 25);
}
)cuda";
  const auto offers_constants = [](const Json &state) {
    const Json moves = call("moves", state)["moves"];
    return std::ranges::any_of(moves, [](const Json &move) { return move["name"] == "constant_arguments"; });
  };
  Json state{{"text", source}, {"kernel", "sums"}};
  CHECK_FALSE(offers_constants(state));
  state["task"] = call("tasks", {{"text", source}})["kernels"][0]["task"];
  REQUIRE(state["task"].is_object());
  CHECK(offers_constants(state));
}

TEST_CASE("a readable file without flags is read as its project says") {
  states::OpenStates open;
  std::vector<std::string> asked;
  const auto project = [&](const std::string &path) {
    asked.push_back(path);
    analysis::ParseSettings settings;
    settings.flags = {"-DWIDTH=25"};
    return settings;
  };
  const std::string text = "#if WIDTH == 25\n__global__ void wide(float *x) { x[threadIdx.x] = 0; }\n#endif\n";
  const Json on_disk{{"path", __FILE__}, {"text", text}};
  const auto tasks = answer_env("tasks", on_disk, open, project);
  REQUIRE(tasks);
  CHECK(tasks->at("kernels").size() == 1);
  CHECK(asked == std::vector<std::string>{__FILE__});
  Json with_flags = on_disk;
  with_flags["flags"] = {"-DWIDTH=3"};
  CHECK(answer_env("tasks", with_flags, open, project)->at("kernels").empty());
  CHECK(answer_env("tasks", {{"path", "/no/such.cu"}, {"text", text}}, open, project)->at("kernels").empty());
  CHECK(asked.size() == 1);
}

TEST_CASE("env describes a task's kernel in numbers, and the kinds of moves") {
  const Json task = call("tasks", {{"text", kSource}})["kernels"][0]["task"];
  const Json kernel = call("facts", {{"task", task}})["kernel"];
  CHECK(kernel["global_writes"] == 1);
  CHECK(kernel["global_coalesced_writes"] == 1);
  CHECK(kernel["global_reads"] == 0);
  CHECK(kernel["element_bytes"] == 4);
  CHECK(kernel["pointers"] == 1);
  CHECK(kernel["written_pointers"] == 1);
  CHECK(kernel["barriers"] == 0);
  bool gemm = false;
  for (const Json &kind : call("kinds", Json::object())["kinds"])
    gemm |= kind["name"] == "gemm" && kind["is_template"] == true;
  CHECK(gemm);
  CHECK(error_code("facts", {{"task", 3}}) == rpc::kInvalidParams);
  Json broken = task;
  broken["reference"]["source"] = "int nothing;";
  CHECK(error_code("facts", {{"task", broken}}) == rpc::kInvalidParams);
}

TEST_CASE("env refuses what is missing, malformed or illegal") {
  CHECK(error_code("dance", Json::object()) == rpc::kMethodNotFound);
  CHECK(error_code("moves", Json::array()) == rpc::kInvalidParams);
  CHECK(error_code("moves", {{"text", kSource}}) == rpc::kInvalidParams);
  CHECK(error_code("moves", {{"text", kSource}, {"kernel", "absent"}}) == rpc::kInvalidParams);
  CHECK(error_code("moves", {{"text", 7}, {"kernel", "fill"}}) == rpc::kInvalidParams);
  CHECK(error_code("tasks", {{"path", "/nowhere/at/all.cu"}}) == rpc::kInvalidParams);
  CHECK(error_code("apply", {{"text", kSource}, {"kernel", "fill"}, {"move", "gemm(bm=1)"}}) ==
        rpc::kInvalidParams);
  CHECK(error_code("plan", {{"text", kSource}, {"kernel", "fill"}, {"task", Json::object()}}) ==
        rpc::kInvalidParams);
}
