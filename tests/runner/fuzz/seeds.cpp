// Writes the seeds of the fuzz targets: real messages, as a client and a runner exchange them.
//   fuzz_seeds FOLDER   writes FOLDER/frames, FOLDER/decoders and FOLDER/service
#define DOCTEST_CONFIG_IMPLEMENT
#include "runner/net/token.h"
#include "support/model/verify_options.h"
#include "tests/runner/tasks.h"

#include <filesystem>
#include <fstream>

namespace warpwright::fuzz {
namespace {

using nlohmann::json;
using namespace runner::testing;

struct Seeds {
  std::filesystem::path folder;
  int next = 0;
  void write(const std::string &prefix, const std::string &text) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / std::to_string(next++), std::ios::binary) << prefix << text;
  }
};

json request(const json &id, const std::string &method, const json &params = nullptr) {
  json message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null())
    message["params"] = params;
  return message;
}
json notification(const std::string &method, const json &params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", params}};
}

model::VerifyOptions options(const std::string &job, const std::string &device = "") {
  model::VerifyOptions options;
  options.job = job;
  options.device = device;
  return options;
}

json job(const model::Task &task, const model::VerifyOptions &wanted) {
  return {{"task", model::to_json(task)},
          {"plan", model::to_json(task.reference)},
          {"options", model::to_json(wanted)}};
}

model::Verdict verdict() {
  model::Verdict verdict;
  verdict.outcome = model::Outcome::Verified;
  verdict.message = "correct by every check";
  verdict.device = {.kind = "cuda", .name = "NVIDIA H200", .memory_bytes = 1ull << 37};
  verdict.kernels = {{.kernel = "square", .registers = 16, .compile_ms = 12.5}};
  verdict.checks = {{"canaries", true, ""}, {"run twice", false, "element 3 differs"}};
  verdict.errors.max_relative = 1e-6;
  verdict.reference_time = model::Time{1000, 990, 1010, 30};
  verdict.candidate_time = model::Time{500, 495, 505, 30};
  verdict.speedup = model::Speedup{2, 1.98, 2.02, 30, "NVIDIA H200"};
  verdict.as_called =
      model::AsCalled{*verdict.reference_time, *verdict.candidate_time, *verdict.speedup};
  verdict.clocks = model::ClockRecord{.sm_mhz = model::Range{1500, 1980}, .power_capped = false};
  verdict.candidate_evidence =
      model::Evidence{.bytes_per_s = 3e12, .memory_share = 0.8, .bound = model::Bound::Memory};
  verdict.counters = model::Counters{
      .candidate = model::PlanCounters{{{"dram_throughput_percent", 80.5}}, "memory"},
      .tool = "ncu 2025.3.1",
      .sizes = "n=4096"};
  verdict.record =
      model::Record{square_task(4096), square_task(4096).reference, options("", "cuda:0"), "0.1.0"};
  verdict.date = "2026-11-21T12:00:00Z";
  verdict.task_hash = std::string(64, 'a');
  verdict.plan_hash = std::string(64, 'b');
  return verdict;
}

std::vector<json> conversation() {
  const json square = job(square_task(4096), options("one"));
  return {request(1, "info"),
          request(2, "verify", square),
          request(3, "verify", job(saxpy_task(1 << 20), options("two"))),
          request("four", "verify", job(square_task(64), options(""))),
          request(5, "verify", job(square_task(64), options("three", "none"))),
          request(6, "verify", job(saxpy_task(7), options("one"))),
          request(7, "ping"),
          request(8, "verify", square),
          notification("$/cancelRequest", {{"id", 3}}),
          notification("cancel", {{"job", "two"}}),
          notification("received", {{"job", "one"}}),
          request(9, "authenticate", runner::net::authentication("0123456789abcdef")),
          {{"jsonrpc", "2.0"}, {"id", 1}, {"result", model::to_json(verdict())}},
          {{"jsonrpc", "2.0"}, {"id", 1}, {"error", {{"code", -32800}, {"message", "cancelled"}}}},
          request(10, "echo", {1, "two", {{"three", 4.5}}}),
          notification("stage", {{"id", 2}, {"stage", "verifying"}, {"activity", ""}})};
}

std::string frame(const std::string &body, const std::string &header = "Content-Length: ") {
  return header + std::to_string(body.size()) + "\r\n\r\n" + body;
}

void write_frames(Seeds seeds) {
  std::string all;
  for (const json &message : conversation()) {
    seeds.write({1, 6}, frame(message.dump()));
    all += frame(message.dump(), "Content-Type: x\r\ncontent-length:  ");
  }
  seeds.write({2, 50}, all);
  seeds.write({2, 1}, "Content-Length: 999999999\r\n\r\n{");
}

void write_decoders(Seeds seeds) {
  for (const model::Task &task : {square_task(4096), saxpy_task(1 << 20)}) {
    seeds.write({'\0'}, job(task, options("one")).dump());
    seeds.write({4}, model::to_json(task).dump());
  }
  seeds.write({1}, model::to_json(verdict()).dump());
  seeds.write({2}, model::to_json(options("one", "cuda:0")).dump());
  seeds.write({3}, model::to_json(verdict().device).dump());
}

void write_service(Seeds seeds) {
  std::string all;
  for (const json &message : conversation()) {
    seeds.write("\x03", message.dump());
    seeds.write("\x02", message.dump());
    all += message.dump() + "\n";
  }
  seeds.write("\x07", all);
  seeds.write("\x0f", all);
  seeds.write("\x06", all);
  seeds.write("\x01", frame(conversation()[1].dump()));
  seeds.write("\x0c", frame(conversation()[0].dump()));
}

} // namespace
} // namespace warpwright::fuzz

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  doctest::Context context; // tasks.h checks with doctest
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler([](const doctest::AssertData &failed) {
    if (failed.m_failed)
      std::abort();
  });
  using namespace warpwright::fuzz;
  const std::filesystem::path folder = argv[1];
  write_frames({folder / "frames"});
  write_decoders({folder / "decoders"});
  write_service({folder / "service"});
  return 0;
}
