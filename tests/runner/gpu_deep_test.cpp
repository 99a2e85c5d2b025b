// The deep check and the counters on a real GPU with NVIDIA's own tools, through the real service. What is
// planted passes every other check: an out-of-bounds read that changes nothing, and a shared-memory race
// that is nearly always won.
#include "runner/connect/connect.h"
#include "runner/cuda/device.h"
#include "runner/deep/tools.h"
#include "tests/runner/tasks.h"

#include <filesystem>
#include <iostream>

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;

/// Null, said once, without a GPU or without the tool.
std::unique_ptr<BlockingClient> client_for(deep::Tool tool) {
  if (const auto devices = cuda::list_cuda_devices(); !devices) {
    std::cout << "all cases skipped: " << describe(devices.error()) << std::endl;
    return nullptr;
  }
  if (const auto path = deep::find(tool); !path) {
    std::cout << "skipped: " << describe(path.error()) << std::endl;
    return nullptr;
  }
  const auto built = std::filesystem::path(WARPWRIGHT_BINARY_DIR) / "warpwright-runner";
  auto client = BlockingClient::connect(
      std::filesystem::exists(built) ? "stdio:" + built.string() + " serve" : "");
  REQUIRE_MESSAGE(client.has_value(), (client ? "" : describe(client.error())));
  return std::move(*client);
}

model::Verdict ask(BlockingClient &client, const Task &task, const Plan &plan, bool deep,
                   bool profile) {
  VerifyOptions options;
  options.device = "cuda:0";
  options.deep = deep;
  options.profile = profile;
  options.measure = false;
  options.timeout = std::chrono::milliseconds(120'000);
  const auto start = std::chrono::steady_clock::now();
  auto verdict = client.verify(task, plan, options, {});
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  std::cout << model::name(verdict->outcome) << ": " << verdict->message << " ("
            << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()
            << " s)\n";
  for (const model::Check &check : verdict->checks)
    if (check.name.ends_with("check") || check.name == "hardware counters")
      std::cout << "  " << (check.passed ? "ok      " : "FAILED  ") << check.name << ": "
                << check.detail << "\n";
  return *verdict;
}

const model::Check &check_named(const model::Verdict &verdict, const std::string &name) {
  static const model::Check none{"none", false, "there is no such check"};
  for (const model::Check &check : verdict.checks)
    if (check.name == name)
      return check;
  return none;
}

TEST_CASE("a right kernel passes all four tools") {
  const auto client = client_for(deep::Tool::ComputeSanitizer);
  if (!client)
    return;
  const auto verdict = ask(*client, square_task(1 << 16),
                           square_candidate("  if (i < n) y[i] = x[i] * x[i];"), true, false);
  CHECK(verdict.outcome == Outcome::Verified);
  for (const char *tool : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
    CHECK(check_named(verdict, tool).passed);
    CHECK(check_named(verdict, tool).detail == "at n=7; at n=65536");
  }
}

TEST_CASE("memcheck names an out-of-bounds read in the user's line") {
  const auto client = client_for(deep::Tool::ComputeSanitizer);
  if (!client)
    return;
  const Plan stray = square_candidate("#line 40 \"user.cu\"\n"
                                      "  if (i < n) {\n"
                                      "    y[i] = x[i] * x[i];\n"
                                      "    if (__float_as_int(x[i + 1]) == 0x12345678)\n"
                                      "      y[i] = 0;\n"
                                      "  }");
  const Task task = square_task(1 << 16);
  CHECK(ask(*client, task, stray, false, false).outcome == Outcome::Verified);
  const auto verdict = ask(*client, task, stray, true, false);
  CHECK(verdict.outcome == Outcome::Crash);
  const model::Check &memcheck = check_named(verdict, "memcheck");
  CHECK(!memcheck.passed);
  CHECK(memcheck.detail.find("Invalid __global__ read of size 4 bytes") != std::string::npos);
  CHECK(memcheck.detail.find("user.cu:42") != std::string::npos);
  CHECK(memcheck.detail.find("after x (28 bytes)") != std::string::npos);
}

TEST_CASE("racecheck names a shared-memory race in the user's lines") {
  const auto client = client_for(deep::Tool::ComputeSanitizer);
  if (!client)
    return;
  // Each thread fetches the element of the one that is 32 further, and should wait for its own.
  const Plan race = square_candidate("  __shared__ volatile float s[256];\n"
                                     "  int t = threadIdx.x, other = i ^ 32;\n"
                                     "#line 50 \"user.cu\"\n"
                                     "  if (other < n) s[t ^ 32] = x[other];\n"
                                     "  __nanosleep(50000);\n"
                                     "  if (i < n) y[i] = s[t] * s[t];");
  const auto verdict = ask(*client, square_task(1 << 14), race, true, false);
  CHECK(verdict.outcome == Outcome::WrongResult);
  const model::Check &racecheck = check_named(verdict, "racecheck");
  CHECK(!racecheck.passed);
  CHECK(racecheck.detail.find("Race reported") != std::string::npos);
  CHECK(racecheck.detail.find("user.cu:50") != std::string::npos);
  CHECK(racecheck.detail.find("user.cu:52") != std::string::npos);
}

TEST_CASE("initcheck names a read of memory that nobody wrote") {
  const auto client = client_for(deep::Tool::ComputeSanitizer);
  if (!client)
    return;
  Plan uninitialised = square_candidate("  if (i < n) {\n"
                                        "    if (__float_as_int(scratch[i]) == 0x12345678)\n"
                                        "      y[i] = 0;\n"
                                        "    y[i] = x[i] * x[i];\n"
                                        "    scratch[i] = y[i];\n"
                                        "  }");
  const std::string parameters = "(const float *x, float *y, int n)";
  uninitialised.source.replace(
      uninitialised.source.find(parameters), parameters.size(),
      "(const float *x, volatile float *y, volatile float *scratch, int n)");
  auto &launch = std::get<model::LaunchStep>(uninitialised.steps[0]);
  launch.arguments.insert(launch.arguments.begin() + 2, model::BufferArgument{"scratch", 0});
  uninitialised.temporaries.push_back({"scratch", Dtype::Float32, expression("n")});
  const auto verdict = ask(*client, square_task(1 << 14), uninitialised, true, false);
  CHECK(verdict.outcome == Outcome::WrongResult);
  CHECK(check_named(verdict, "initcheck").detail.find("Uninitialized __global__ memory read") !=
        std::string::npos);
}

TEST_CASE("hardware counters of both sides are in the verdict") {
  const auto client = client_for(deep::Tool::Ncu);
  if (!client)
    return;
  const auto verdict = ask(*client, square_task(1 << 24),
                           square_candidate("  if (i < n) y[i] = x[i] * x[i];"), false, true);
  CHECK(verdict.outcome == Outcome::Verified);
  if (!verdict.counters) {
    MESSAGE("skipped: " << check_named(verdict, "hardware counters").detail);
    CHECK(check_named(verdict, "hardware counters").detail.starts_with("not run: "));
    return;
  }
  std::cout << model::to_json(*verdict.counters).dump(1) << "\n";
  for (const auto *side : {&verdict.counters->reference, &verdict.counters->candidate}) {
    REQUIRE(side->has_value());
    const auto &values = (*side)->values;
    for (const char *name : {"duration_ns", "dram_throughput_percent", "l2_throughput_percent",
                             "sm_throughput_percent", "achieved_occupancy_percent",
                             "global_load_sectors_per_request", "global_store_sectors_per_request"})
      CHECK_MESSAGE(values.contains(name), name);
    CHECK(values.at("global_load_sectors_per_request") == doctest::Approx(4).epsilon(0.01));
    CHECK((*side)->bound == "memory");
  }
}

} // namespace
} // namespace warpwright::runner
