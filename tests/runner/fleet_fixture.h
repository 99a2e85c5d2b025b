// A private broker, and the processes of a fleet on it.
#pragma once

#include "runner/fleet/address.h"
#include "support/process.h"
#include "tests/runner/connect_to.h"
#include "tests/runner/fleet_jobs.h"

#include <csignal>
#include <filesystem>
#include <functional>
#include <poll.h>
#include <unistd.h>

namespace warpwright::runner::testing {

namespace fs = std::filesystem;

inline constexpr std::chrono::minutes kGenerous{3};

/// Looks every few milliseconds until `holds`. @return whether it came to hold
inline bool wait_until(const std::function<bool()> &holds,
                       std::chrono::milliseconds limit = kGenerous) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/warpwright-fleet-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
};

/// A RabbitMQ node of the test's own; killed with it.
class Broker {
public:
  Broker() { start(); }

  void start() {
    auto node = Process::spawn({kScript, "run", folder_.path});
    REQUIRE(node.has_value());
    node_ = std::move(*node);
  }
  /// Waits until clients can come in.
  void await() const {
    const auto waited = run_captured({kScript, "wait", folder_.path}, "", std::chrono::minutes(4));
    REQUIRE(waited.has_value());
    REQUIRE_MESSAGE(waited->status.code == 0, waited->errors);
  }
  pid_t pid() const { return node_->pid(); }
  void kill() {
    node_->kill(SIGKILL);
    node_->wait();
  }
  std::string url(const std::string &parameters = "") const {
    const auto run = run_captured({kScript, "url", folder_.path}, "", std::chrono::minutes(1));
    REQUIRE(run.has_value());
    return run->output.substr(0, run->output.find('\n')) + parameters;
  }
  fs::path file(const std::string &name) const { return folder_.path / name; }

private:
  const std::string kScript = WARPWRIGHT_SOURCE_DIR "/scripts/broker.sh";
  Folder folder_;
  std::optional<Process> node_;
};

/// The one broker of this test program; it may be down.
inline Broker &shared_broker() {
  static Broker broker;
  return broker;
}

/// The same, when clients can come in.
inline Broker &broker() {
  shared_broker().await();
  return shared_broker();
}

/// `warpwright-runner serve --fleet` with a fake worker.
inline Process start_runner(const std::string &url, bool pipe_stderr = false) {
  auto runner = Process::spawn(
      {WARPWRIGHT_BINARY_DIR "/warpwright-runner", "serve", "--fleet", url},
      {.environment = {"WARPWRIGHT_CPU_WORKER=" WARPWRIGHT_TEST_DIR "/runner_fake_worker",
                       "WARPWRIGHT_FAKE_WORKER="},
       .pipe_stderr = pipe_stderr});
  REQUIRE(runner.has_value());
  return std::move(*runner);
}

inline Process start_fake_runner(const std::string &url, const std::string &device) {
  auto runner = Process::spawn({WARPWRIGHT_TEST_DIR "/runner_fleet_fake", url, device});
  REQUIRE(runner.has_value());
  return std::move(*runner);
}

/// Until that many devices are offered.
inline RunnerInfo await_devices(BlockingClient &client, std::size_t count) {
  RunnerInfo info;
  const bool offered = wait_until([&] {
    const auto answer = client.info();
    REQUIRE_MESSAGE(answer.has_value(), (answer ? "" : describe(answer.error())));
    info = *answer;
    return info.devices.size() == count;
  });
  REQUIRE(offered);
  return info;
}

} // namespace warpwright::runner::testing
