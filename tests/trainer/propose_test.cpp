// `propose` as its callers use it: over JSON-RPC, with the real `warpwright env` behind it.
#include "support/process.h"
#include "support/rpc/child_line.h"
#include "tests/trainer/chat_server.h"
#include "tests/trainer/temporary_folder.h"

#include <doctest/doctest.h>

using namespace warpwright;
namespace testing = warpwright::trainer::testing;

namespace {

using Json = nlohmann::json;

constexpr const char *kSource = R"(__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = x[i] * 2.0f;
}
int main() {
  const int n = 4096;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, n);
}
)";

std::unique_ptr<rpc::ChildLine> start(const std::string &policy) {
  const std::string bin = WARPWRIGHT_BINARY_DIR;
  auto line =
      rpc::ChildLine::start({bin + "/warpwright-train", "propose", "--policy", policy, "--set",
                             "environment.warpwright = \"" + bin + "/warpwright\""});
  REQUIRE(line);
  return std::move(*line);
}

Json verdict(const std::string &outcome) {
  return {{"outcome", outcome},
          {"message", ""},
          {"kernels", Json::array()},
          {"checks", Json::array()},
          {"device", {{"kind", "cpu"}, {"name", "cpu"}}}};
}

} // namespace

TEST_CASE("a policy is served, and proposes what was not tried") {
  auto line = start("random");
  CHECK((*line->call("info", Json::object()))["policy"] == "random");
  Json tried = Json::array();
  for (int i = 0; i < 3; ++i) {
    auto answer = line->call("propose", {{"text", kSource}, {"kernel", "scale"}, {"tried", tried}});
    REQUIRE(answer);
    REQUIRE(answer->contains("moves"));
    REQUIRE(!(*answer)["moves"].empty());
    for (const Json &entry : tried)
      CHECK(entry["moves"] != (*answer)["moves"]);
    tried.push_back({{"moves", (*answer)["moves"]}, {"verdict", verdict("verified")}});
  }
}

TEST_CASE("what cannot be answered is refused, and the line lives on") {
  auto line = start("random");
  auto missing = line->call("propose", {{"text", kSource}, {"kernel", "no_such_kernel"}});
  REQUIRE(!missing);
  CHECK(!missing.error().lost);
  CHECK(missing.error().error.message.find("no kernel no_such_kernel") != std::string::npos);
  CHECK(!line->call("propose", {{"kernel", "scale"}}));
  CHECK(!line->call("dance", Json::object()));
  CHECK(line->call("info", Json::object()));
}

TEST_CASE("a policy that needs states refuses a module whose plans the caller makes") {
  auto line = start("random");
  const Json task{
      {"name", "Model"},
      {"file", "model.py"},
      {"sizes", Json::object()},
      {"buffers",
       {{{"name", "x"}, {"dtype", "float32"}, {"extent", "4"}, {"shape", {4}}, {"direction", "in"}},
        {{"name", "output_0"},
         {"dtype", "float32"},
         {"extent", "4"},
         {"shape", {4}},
         {"direction", "out"}}}},
      {"module", {{"source", "class Model: pass"}}},
      {"reference", {{"source", ""}, {"steps", {{{"module", Json::object()}}}}}}};
  auto answer = line->call("propose", {{"task", task}});
  REQUIRE(!answer);
  CHECK_MESSAGE(answer.error().error.message.find("the caller makes the states") !=
                    std::string::npos,
                answer.error().error.message);
}

TEST_CASE("a policy that does not exist ends the process with its name") {
  auto line = start("psychic");
  auto answer = line->call("info", Json::object());
  REQUIRE(!answer);
  CHECK(answer.error().lost);
}

namespace {

/// The first kernel of `warpwright optimize --json` on the source above.
Json optimized(const testing::TemporaryFolder &folder, const std::string &policy,
               const std::vector<std::string> &more = {},
               std::vector<std::string> environment = {}) {
  const std::string bin = WARPWRIGHT_BINARY_DIR;
  std::vector<std::string> command{bin + "/warpwright",
                                   "optimize",
                                   folder.write("scale.cu", kSource),
                                   "--device",
                                   "cpu",
                                   "--max-variants",
                                   "2",
                                   "--budget",
                                   "20s",
                                   "--json",
                                   "--policy",
                                   policy};
  command.insert(command.end(), more.begin(), more.end());
  environment.push_back("XDG_STATE_HOME=" + folder.path.string());
  environment.push_back("WARPWRIGHT_TRAIN=" + bin + "/warpwright-train");
  auto run = run_captured(command, "", std::chrono::seconds(100), {.environment = environment});
  REQUIRE(run);
  INFO(run->errors);
  REQUIRE(run->status.code == 0);
  return Json::parse(run->output).at("kernels").at(0);
}

} // namespace

TEST_CASE("optimize takes its proposals from a trained policy") {
  const testing::TemporaryFolder folder;
  const std::string bin = WARPWRIGHT_BINARY_DIR, source = WARPWRIGHT_SOURCE_DIR;
  auto trained =
      run_captured({bin + "/warpwright-train", "sft", "--quiet", "--records",
                    source + "/tests/data/trainer/records.jsonl", "--out", folder.path / "run",
                    "--set", "sft.steps=3", "--set", "network.width=32"},
                   "", std::chrono::seconds(60));
  REQUIRE(trained);
  REQUIRE(trained->status.code == 0);
  const Json kernel =
      optimized(folder, "builtin:" + (folder.path / "run" / "sft.safetensors").string());
  CHECK(kernel["policy"] == "builtin");
  CHECK(kernel["analysis"].get<std::string>().starts_with("The kernel is held back by"));
  REQUIRE(kernel["variants"].size() == 2);
  CHECK(kernel["variants"][0]["moves"] != kernel["variants"][1]["moves"]);
}

TEST_CASE("optimize goes on with its own search where no policy can be had, and says why") {
  const testing::TemporaryFolder folder;
  const Json kernel = optimized(folder, "builtin:no/such/weights.safetensors");
  CHECK(kernel["policy"].get<std::string>().starts_with("search, because cannot read the weights"));
  CHECK(kernel["variants"].size() == 2);
}

namespace {

constexpr const char *kAnswer = R"text(## Performance Analysis
Faster version: 1
Decisive change: none
Bound: memory
## Algorithm Design
A grid of its own.
## Code Implementation
```cuda
__global__ void mine(float *x, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n)
    x[i] = 2.0f * x[i];
}
```
```json
{"steps": [{"launch": {"kernel": "mine", "grid": ["ceil_div(n, 64)"], "block": [64],
  "arguments": [{"buffer": "x"}, {"size": "n"}]}}]}
```
)text";

} // namespace

TEST_CASE("optimize verifies a language model's plan, and --apply writes it into the file") {
  const testing::ChatServer server({testing::whole_answer(kAnswer)});
  const testing::TemporaryFolder folder;
  const Json kernel =
      optimized(folder, "endpoint:" + server.url() + "#model", {"--apply=checked"},
                {"WARPWRIGHT_ENDPOINT_CA=" + server.ca(), "WARPWRIGHT_ENDPOINT_KEY=secret"});
  // The one answer again is nothing new, so the search goes on.
  const std::string policy = kernel["policy"];
  CHECK(policy.starts_with(
      "endpoint, 72 of 2000000 tokens, then search: its answers could not be used: "
      "the answer repeats an earlier one"));
  CHECK(kernel["variants"][0]["outcome"] == "verified");
  CHECK(kernel["variants"][0]["proposed_by"] == "endpoint");
  CHECK(kernel["applied"]["applied"] == true);
  std::ifstream file(folder.path / "scale.cu");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  CHECK(text.find("scale<<<(n + 63) / 64, 64>>>(x, n);") != std::string::npos);
  CHECK(text.find("x[i] = 2.0f * x[i];") != std::string::npos);
  CHECK(server.seen().at(0).authorization == "Bearer secret");
}

TEST_CASE("answers that cannot be used end the advice with the reason") {
  const testing::ChatServer server({testing::whole_answer("I would rather not.")});
  const testing::TemporaryFolder folder;
  const Json kernel =
      optimized(folder, "endpoint:" + server.url() + "#model", {},
                {"WARPWRIGHT_ENDPOINT_CA=" + server.ca(), "WARPWRIGHT_ENDPOINT_KEY=secret"});
  CHECK(kernel["policy"].get<std::string>().starts_with(
      "endpoint, 54 of 2000000 tokens, then search: its answers could not be used: the heading"));
  CHECK(kernel["variants"].size() == 2);
  CHECK(server.seen().size() == 3);
}
