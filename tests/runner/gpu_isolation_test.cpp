// What only a GPU can tell of isolation, scheduling and compiling ahead: which layers the driver
// survives, that all GPUs are used, how soon a job runs after a fault, and that a candidate which
// does not compile is refused in the same words ahead of the GPU and on it.
#include "runner/connect/connect.h"
#include "runner/cuda/device.h"
#include "runner/isolation/isolation.h"
#include "runner/isolation/private_directory.h"
#include "support/process.h"
#include "support/rpc/connection.h"
#include "tests/runner/runner_program.h"
#include "tests/runner/tasks.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <future>
#include <iostream>
#include <set>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;

/// Of this machine; empty, and said so, without any.
std::vector<model::DeviceInfo> gpus() {
  const auto devices = cuda::list_cuda_devices();
  if (!devices)
    std::cout << "all cases skipped: " << describe(devices.error()) << std::endl;
  return devices.value_or(std::vector<model::DeviceInfo>());
}

std::unique_ptr<BlockingClient> client_of_runner() {
  auto client = BlockingClient::connect("stdio:" + runner() + " serve");
  REQUIRE_MESSAGE(client.has_value(), (client ? "" : describe(client.error())));
  return std::move(*client);
}

struct Started {
  rpc::Json info; ///< null: it did not start
  std::string errors;
};

const std::vector<std::string> kNative = {"worker", "--device", "cuda:0"},
                               kWithTorch = {"enclose", "host", "--device", "cuda:0"};

/// Starts a GPU worker and asks what it is.
Started start_worker(const std::vector<std::string> &arguments,
                     std::vector<std::string> environment) {
  auto command = arguments;
  command.insert(command.begin(), runner());
  const auto directory = PrivateDirectory::make();
  REQUIRE(directory.has_value());
  environment.push_back(std::string(kPrivateDirectoryVariable) + "=" + directory->path().string());
  auto process = Process::spawn(command, {.environment = environment, .pipe_stderr = true});
  REQUIRE(process.has_value());
  boost::asio::io_context loop;
  std::optional<Started> started;
  const int errors = process->release_stderr();
  auto connection = rpc::Connection::make(rpc::make_descriptor_stream(loop.get_executor(),
                                                                      process->release_stdout(),
                                                                      process->release_stdin()),
                                          {});
  connection->start();
  connection->request("info", nullptr, [&](const rpc::Outcome &outcome) {
    started = Started{outcome ? *outcome : rpc::Json(), ""};
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!started && std::chrono::steady_clock::now() < end)
    loop.run_one_for(std::chrono::seconds(1));
  connection->close();
  loop.poll();
  process->kill(SIGKILL);
  process->wait();
  REQUIRE(started.has_value());
  char block[4096];
  for (ssize_t count; (count = read(errors, block, sizeof block)) > 0;)
    started->errors.append(block, static_cast<std::size_t>(count));
  close(errors);
  return *started;
}

constexpr const char *kLayers[] = {"processes", "network",      "view",  "resources",   "limits",
                                   "user",      "capabilities", "files", "system calls"};

void check_that_it_starts(const std::vector<std::string> &command) {
  const Started started = start_worker(command, {});
  if (started.info.is_null()) {
    std::cout << "the worker does not start in isolation: " << started.errors;
    for (const char *layer : kLayers) {
      const Started without =
          start_worker(command, {std::string("WARPWRIGHT_ISOLATION_WITHOUT=") + layer});
      std::cout << "  without " << layer << ": "
                << (without.info.is_null() ? without.errors : "it starts") << std::endl;
    }
  }
  REQUIRE(!started.info.is_null());
  for (const auto &layer : started.info["isolation"]) {
    std::cout << (layer["active"] == true ? "holds    " : "MISSING  ")
              << layer["name"].get<std::string>() << ": " << layer["detail"].get<std::string>()
              << std::endl;
    // What a machine does not grant is said; what works with a driver on one that does must hold.
    if (layer["name"] == "system calls" || layer["name"] == "capabilities" ||
        (geteuid() == 0 && layer["name"] == "view"))
      CHECK(layer["active"] == true);
  }
}

TEST_CASE("the driver starts in full isolation, and each layer holds") {
  if (!gpus().empty())
    check_that_it_starts(kNative);
}

TEST_CASE("and so it does for the worker with torch") {
  if (gpus().empty())
    return;
  const auto torch = run_captured({runner(), "doctor", "--json"}, "", std::chrono::seconds(120));
  REQUIRE(torch.has_value());
  for (const auto &finding : rpc::Json::parse(torch->output)["findings"])
    if (finding["what"] == "torch" && finding["found"] == false) {
      MESSAGE("skipped: " << finding["detail"].get<std::string>());
      return;
    }
  check_that_it_starts(kWithTorch);
}

VerifyOptions on(const std::string &device, bool measure) {
  VerifyOptions options;
  options.device = device;
  options.timeout = std::chrono::milliseconds(60'000);
  options.measure = measure;
  options.measure_budget = std::chrono::milliseconds(300);
  return options;
}

TEST_CASE("isolation changes neither verdict nor time") {
  if (gpus().empty())
    return;
  const Task task = square_task(1 << 24);
  const Plan plan = square_candidate("  if (i < n) y[i] = x[i] * x[i];");
  for (const char *mode : {"builtin", "off"}) {
    setenv("WARPWRIGHT_ISOLATION", mode, 1);
    const auto verdict = client_of_runner()->verify(task, plan, on("cuda:0", true), {});
    unsetenv("WARPWRIGHT_ISOLATION");
    REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
    INFO(verdict->message);
    CHECK(verdict->outcome == Outcome::Verified);
    if (verdict->candidate_time)
      std::cout << "isolation " << mode << ": square of 16M takes "
                << verdict->candidate_time->median_ns / 1e3 << " us\n";
  }
}

TEST_CASE("the job after a device fault does not wait for a new worker to be asked for") {
  if (gpus().empty())
    return;
  const auto client = client_of_runner();
  const Task task = square_task(1 << 16);
  const Plan right = square_candidate("  if (i < n) y[i] = x[i] * x[i];");
  const auto timed = [&](const Plan &plan) {
    const auto start = std::chrono::steady_clock::now();
    auto verdict = client->verify(task, plan, on("cuda:0", false), {});
    REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
    return std::pair(verdict->outcome, std::chrono::duration<double, std::milli>(
                                           std::chrono::steady_clock::now() - start)
                                           .count());
  };
  std::cout << "first job: " << timed(right).second << " ms; warm: " << timed(right).second
            << " ms\n";
  for (const char *fault : {"  if (i < n) y[i + (1ll << 40)] = x[i];", "  __trap();"}) {
    CHECK(timed(square_candidate(fault)).first == Outcome::Crash);
    const auto [outcome, ms] = timed(right);
    CHECK(outcome == Outcome::Verified);
    std::cout << "next job after a device fault: " << ms << " ms\n";
  }
}

TEST_CASE("every GPU of the host gets work") {
  const auto devices = gpus();
  if (devices.empty())
    return;
  const auto client = client_of_runner();
  std::vector<std::future<Result<model::Verdict>>> jobs;
  for (std::size_t i = 0; i < 6 * devices.size(); ++i)
    jobs.push_back(std::async(std::launch::async, [&, i] {
      return client->verify(
          square_task(1 << 22),
          square_candidate("  if (i < n) y[i] = x[i] * x[i] + 0 * " + std::to_string(i) + ";"),
          on("cuda", true), {});
    }));
  std::map<std::string, int> used;
  for (auto &job : jobs) {
    const auto verdict = job.get();
    REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
    CHECK(verdict->outcome == Outcome::Verified);
    ++used[verdict->device.identifier];
  }
  for (const auto &[identifier, count] : used)
    std::cout << identifier << ": " << count << " of " << jobs.size() << " jobs\n";
  CHECK(used.size() == devices.size());
}

TEST_CASE("what does not compile is refused ahead of the GPU in the GPU worker's words") {
  if (gpus().empty())
    return;
  const Task task = square_task(1 << 16);
  std::vector<rpc::Json> said;
  for (const char *processes : {"0", "2"}) {
    setenv("WARPWRIGHT_COMPILE_AHEAD", processes, 1);
    const auto client = client_of_runner();
    unsetenv("WARPWRIGHT_COMPILE_AHEAD");
    const auto warm = client->verify(task, square_candidate("  if (i < n) y[i] = x[i] * x[i];"),
                                     on("cuda:0", false), {});
    REQUIRE_MESSAGE(warm.has_value(), (warm ? "" : describe(warm.error())));
    VerifyOptions options = on("cuda:0", false);
    options.seed = 7;
    const auto verdict = client->verify(task, square_candidate("  y[i] = nothing;"), options, {});
    REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
    rpc::Json document = model::to_json(*verdict);
    for (const char *moment : {"date", "record", "conditions"})
      document.erase(moment);
    document["device"].erase("bracket_ns"); // measured in each process
    said.push_back(std::move(document));
  }
  CHECK(said[0]["outcome"] == "compile_failed");
  CHECK(said[0].dump(1) == said[1].dump(1));
}

} // namespace
} // namespace warpwright::runner
