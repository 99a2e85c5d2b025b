// Faults on a real GPU, through the real service: each takes its worker down and nothing else.
#include "runner/connect/connect.h"
#include "runner/cuda/device.h"
#include "support/process.h"
#include "tests/runner/runner_program.h"
#include "tests/runner/tasks.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <thread>

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;

/// A client of the runner that was built with these tests, or lies beside them. Null without a GPU.
std::unique_ptr<BlockingClient> client_with_gpu() {
  if (const auto devices = cuda::list_cuda_devices(); !devices) {
    std::cout << "all cases skipped: " << describe(devices.error()) << std::endl;
    return nullptr;
  }
  auto client = BlockingClient::connect("stdio:" + runner() + " serve");
  REQUIRE_MESSAGE(client.has_value(), (client ? "" : describe(client.error())));
  return std::move(*client);
}

model::Verdict ask(BlockingClient &client, const Task &task, const Plan &plan, bool measure = false,
                   int timeout_ms = 20'000) {
  VerifyOptions options;
  options.device = "cuda:0";
  options.timeout = std::chrono::milliseconds(timeout_ms);
  options.measure = measure;
  options.measure_budget = std::chrono::milliseconds(500);
  const auto start = std::chrono::steady_clock::now();
  auto verdict = client.verify(task, plan, options, {});
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  std::cout
      << model::name(verdict->outcome) << ": " << verdict->message << " ("
      << std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()
      << " ms)\n";
  return *verdict;
}

void check(const model::Verdict &verdict, Outcome outcome, const std::string &part) {
  INFO(model::to_json(verdict).dump(1));
  CHECK(verdict.outcome == outcome);
  CHECK(verdict.message.find(part) != std::string::npos);
}

TEST_CASE("the service measures a GPU and compiles what judges in a process without a client") {
  if (!client_with_gpu())
    return;
  const auto run = run_captured({runner(), "calibrate", "--device", "cuda:0"}, "", std::chrono::minutes(1));
  REQUIRE(run.has_value());
  const auto answer = nlohmann::json::parse(run->output, nullptr, false);
  REQUIRE_MESSAGE(answer.is_object(), run->output);
  CHECK(answer["rates"]["copy"].get<double>() > 1e11);
  CHECK(answer["rates"]["fp32"].get<double>() > 1e12);
  CHECK(answer["code"].size() >= 2); // checks and timers
}

TEST_CASE("illegal addresses, misaligned vectors, traps and endless loops cost one job each") {
  const auto client = client_with_gpu();
  if (!client)
    return;
  const Task task = square_task(1 << 16);
  const Plan right = square_candidate("  if (i < n) y[i] = x[i] * x[i];");
  check(ask(*client, task, right), Outcome::Verified, "correct");
  check(ask(*client, task, square_candidate("  if (i < n) y[i + (1ll << 40)] = x[i];")),
        Outcome::Crash, "illegal address");
  check(ask(*client, task, right), Outcome::Verified, "correct");
  check(ask(*client, task,
            square_candidate("  if (i < n) { y[i] = x[i] * x[i]; if (i == 6) __trap(); }")),
        Outcome::Crash, "running the kernels");
  check(ask(*client, task, right), Outcome::Verified, "correct");
  const Plan vectors =
      square_candidate("  if (4 * i + 3 < n) { float4 v = reinterpret_cast<const float4 *>(x)[i]; "
                       "v.x *= v.x; v.y *= v.y; v.z *= v.z; v.w *= v.w;\n"
                       "    reinterpret_cast<float4 *>(y)[i] = v; }\n"
                       "  else for (int k = 4 * i; k < n; ++k) y[k] = x[k] * x[k];");
  check(ask(*client, task, vectors), Outcome::Crash, "misaligned address");
  check(ask(*client, task,
            square_candidate(
                "  if (i < n) { y[i] = x[i] * x[i]; while (x != nullptr) __nanosleep(1000); }"),
            false, 1500),
        Outcome::Timeout, "did not end");
  check(ask(*client, task, right), Outcome::Verified, "correct");
}

TEST_CASE("a vectorised candidate that checks its alignment is verified") {
  const auto client = client_with_gpu();
  if (!client)
    return;
  const Plan vectors = square_candidate(
      "  bool wide = (((unsigned long long)x | (unsigned long long)y) & 15) == 0;\n"
      "  if (wide && 4 * i + 3 < n) { float4 v = reinterpret_cast<const float4 *>(x)[i]; v.x *= "
      "v.x; v.y *= v.y; v.z *= v.z; v.w *= v.w;\n"
      "    reinterpret_cast<float4 *>(y)[i] = v; }\n"
      "  else if (4 * i < n) for (int k = 4 * i; k < n && k < 4 * i + 4; ++k) y[k] = x[k] * x[k];");
  const auto verdict = ask(*client, square_task(1 << 24), vectors, true);
  check(verdict, Outcome::Verified, "measured");
  if (verdict.speedup)
    std::cout << "float4 square 16M: " << verdict.speedup->ratio << " [" << verdict.speedup->low
              << ", " << verdict.speedup->high << "]\n";
}

TEST_CASE("nothing is measured while another runner computes on the GPU") {
  const auto client = client_with_gpu(), other = client_with_gpu();
  if (!client)
    return;
  const Task task = square_task(1 << 20);
  const Plan right = square_candidate("  if (i < n) y[i] = x[i] * x[i];");
  check(ask(*client, task, right, true), Outcome::Verified, "measured");
  std::jthread busy([&] {
    ask(*other, task,
        square_candidate("  if (i < n) { y[i] = x[i] * x[i]; while (x != nullptr) __nanosleep(1000); }"), false,
        15'000);
  });
  std::this_thread::sleep_for(std::chrono::seconds(7)); // compiled, started, and seen by NVML
  check(ask(*client, task, right, true), Outcome::Unsupported, "others compute on cuda:0");
  busy.join();
  std::this_thread::sleep_for(std::chrono::seconds(4));
  check(ask(*client, task, right, true), Outcome::Verified, "measured");
}

TEST_CASE("a large speedup on a GPU is measured twice") {
  const auto client = client_with_gpu();
  if (!client)
    return;
  Task task = square_task(1 << 22);
  task.reference = square_candidate("  if (i < n) { float s = 0; for (int k = 0; k < 400; ++k) s "
                                    "+= __cosf(x[i] * k) * 1e-30f; y[i] = x[i] * x[i] + s; }");
  const auto verdict =
      ask(*client, task, square_candidate("  if (i < n) y[i] = x[i] * x[i];"), true);
  check(verdict, Outcome::Verified, "measured");
  REQUIRE(verdict.speedup);
  CHECK(verdict.speedup->low > 3);
  const auto again =
      std::find_if(verdict.checks.begin(), verdict.checks.end(), [](const model::Check &c) {
        return c.name == "measured again in a fresh worker";
      });
  REQUIRE(again != verdict.checks.end());
  std::cout << "twice: " << again->detail << "\n";
  CHECK(again->passed);
}

} // namespace
} // namespace warpwright::runner
