// `propose` as its callers use it: over JSON-RPC, with the real `warpwright env` behind it.
#include "support/rpc/child_line.h"
#include "tests/trainer/temporary_folder.h"

#include <doctest/doctest.h>

using namespace warpwright;

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

TEST_CASE("a policy that does not exist ends the process with its name") {
  auto line = start("psychic");
  auto answer = line->call("info", Json::object());
  REQUIRE(!answer);
  CHECK(answer.error().lost);
}
