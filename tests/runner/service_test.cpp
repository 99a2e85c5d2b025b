// The real warpwright-runner as a child process, with a fake worker in the CPU worker's place,
// driven through the real client: crashes, hangs, garbage, queues, cancelling, many clients,
// restarts.
#include "runner/connect/connect.h"
#include "support/process.h"
#include "support/rpc/connection.h"
#include "support/version.h"
#include "tests/runner/tasks.h"

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;
namespace fs = std::filesystem;

const std::string kRunner = WARPWRIGHT_BINARY_DIR "/warpwright-runner";
const std::string kFakeWorker = WARPWRIGHT_TEST_DIR "/runner_fake_worker";

/// Sets variables that child processes inherit, and takes them back.
struct Environment {
  explicit Environment(const std::string &mode, const std::string &worker = kFakeWorker) {
    setenv("WARPWRIGHT_RUNNER", kRunner.c_str(), 1);
    setenv("WARPWRIGHT_CPU_WORKER", worker.c_str(), 1);
    setenv("WARPWRIGHT_FAKE_WORKER", mode.c_str(), 1);
  }
  ~Environment() {
    for (const char *name :
         {"WARPWRIGHT_RUNNER", "WARPWRIGHT_CPU_WORKER", "WARPWRIGHT_FAKE_WORKER"})
      unsetenv(name);
  }
};

struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
};

std::unique_ptr<BlockingClient> connect_to(const std::string &url = "") {
  auto client = BlockingClient::connect(url);
  REQUIRE_MESSAGE(client.has_value(), (client ? "" : describe(client.error())));
  return std::move(*client);
}

/// The fake is meant, on machines with a GPU too.
VerifyOptions on_cpu(int timeout_ms = 20'000) {
  VerifyOptions options;
  options.device = "cpu";
  options.timeout = std::chrono::milliseconds(timeout_ms);
  options.measure_budget = std::chrono::milliseconds(100);
  return options;
}

Result<model::Verdict> ask(BlockingClient &client, const std::string &kernel,
                           const VerifyOptions &options = on_cpu(),
                           const Task &task = fake_task()) {
  return client.verify(task, plan_of("candidate", kernel, {"x", "y"}), options, {});
}

void check_verdict(const Result<model::Verdict> &verdict, Outcome outcome,
                   const std::string &part) {
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  INFO(verdict->message);
  CHECK(verdict->outcome == outcome);
  CHECK(verdict->message.find(part) != std::string::npos);
  CHECK(verdict->task_hash.size() == 64);
  CHECK(verdict->plan_hash.size() == 64);
}

TEST_CASE("a job is verified and its stages arrive") {
  const Environment environment("");
  auto client = connect_to();
  std::vector<std::string> stages;
  const auto verdict =
      client->verify(fake_task(), plan_of("candidate", "square", {"x", "y"}), on_cpu(), {},
                     [&](const std::string &stage) { stages.push_back(stage); });
  check_verdict(verdict, Outcome::Verified, "correct by every check");
  CHECK(std::find(stages.begin(), stages.end(), "compiling") != stages.end());
  CHECK(std::find(stages.begin(), stages.end(), "verifying") != stages.end());
  const auto info = client->info();
  REQUIRE(info.has_value());
  CHECK(info->version == version());
  REQUIRE(!info->devices.empty());
  CHECK(info->devices.back().name == "Fake"); // the worker's own description replaced the guess
}

TEST_CASE("a worker that dies costs its job only") {
  const Environment environment("");
  auto client = connect_to();
  check_verdict(ask(*client, "crash"), Outcome::Crash,
                "the candidate: ended the worker process, signal 11 (Segmentation fault)");
  check_verdict(ask(*client, "exit"), Outcome::Crash,
                "the candidate: ended the worker process, exit code 7");
  check_verdict(ask(*client, "square"), Outcome::Verified, "correct");
  check_verdict(ask(*client, "square", on_cpu(), fake_task("crash")), Outcome::Unsupported,
                "the reference: ended the worker process");
  check_verdict(ask(*client, "square"), Outcome::Verified, "correct");
}

TEST_CASE("a candidate that never ends is a timeout, and the next job runs") {
  const Environment environment("");
  auto client = connect_to();
  check_verdict(ask(*client, "hang", on_cpu(300)), Outcome::Timeout,
                "the candidate: did not end within 300 ms, while running the candidate at n=7");
  check_verdict(ask(*client, "square"), Outcome::Verified, "correct");
}

TEST_CASE("cancelling ends a running job and a waiting one") {
  const Environment environment("");
  auto client = connect_to();
  std::stop_source stop, stop_waiting;
  std::promise<void> running;
  auto first = std::async(std::launch::async, [&] {
    return client->verify(fake_task(), plan_of("candidate", "hang", {"x", "y"}), on_cpu(),
                          stop.get_token(), [&, told = false](const std::string &stage) mutable {
                            if (stage == "verifying" && !std::exchange(told, true))
                              running.set_value();
                          });
  });
  running.get_future().wait();
  auto second = std::async(std::launch::async, [&] {
    return client->verify(fake_task(), plan_of("candidate", "square", {"x", "y"}), on_cpu(),
                          stop_waiting.get_token());
  });
  stop_waiting.request_stop();
  const auto waited = second.get();
  REQUIRE(!waited.has_value());
  CHECK(waited.error().message == "the job was cancelled");
  stop.request_stop();
  const auto ended = first.get();
  REQUIRE(!ended.has_value());
  CHECK(ended.error().message == "the job was cancelled");
  check_verdict(ask(*client, "square"), Outcome::Verified, "correct");
}

TEST_CASE("workers that cannot start, or speak no protocol, are an error that says why") {
  {
    const Environment environment("broken");
    auto client = connect_to();
    const auto verdict = ask(*client, "square");
    REQUIRE(!verdict.has_value());
    CHECK(verdict.error().message.find("does not start: the fake device is broken. Use another") !=
          std::string::npos);
  }
  {
    const Environment environment("garbage");
    auto client = connect_to();
    const auto verdict = ask(*client, "square");
    REQUIRE(!verdict.has_value());
    CHECK(verdict.error().message.find("Content-Length") != std::string::npos);
  }
}

TEST_CASE("a large speedup is measured again in a fresh worker") {
  const Environment environment("measure");
  auto client = connect_to();
  const auto verdict = ask(*client, "fast_square");
  check_verdict(verdict, Outcome::Verified, "measured");
  REQUIRE(verdict->speedup);
  CHECK(verdict->speedup->ratio == doctest::Approx(10).epsilon(0.02));
  CHECK(verdict->checks.back().name == "measured again in a fresh worker");
  CHECK(verdict->checks.back().passed);
  const auto ordinary = ask(*client, "square");
  REQUIRE(ordinary.has_value());
  CHECK(ordinary->checks.back().name != "measured again in a fresh worker");
}

TEST_CASE("requests that do not fit are refused with the member and what was expected") {
  const Environment environment("");
  auto client = connect_to();
  Task task = fake_task();
  task.buffers[0].extent = expression("unknown * 2");
  const auto unknown = ask(*client, "square", on_cpu(), task);
  REQUIRE(!unknown.has_value());
  CHECK(unknown.error().message.find("buffers.x.extent") != std::string::npos);
  VerifyOptions options = on_cpu();
  options.device = "cuda:99";
  const auto device = ask(*client, "square", options);
  REQUIRE(!device.has_value());
  CHECK(device.error().message.find("no device cuda:99") != std::string::npos);
  options = on_cpu(0);
  const auto timeout = ask(*client, "square", options);
  REQUIRE(!timeout.has_value());
  CHECK(timeout.error().message.find("options.timeout_ms must be") != std::string::npos);
}

TEST_CASE("a runner with no device says what to do") {
  const Environment environment("", "/nonexistent/worker");
  auto client = connect_to();
  VerifyOptions options = on_cpu();
  const auto verdict = ask(*client, "square", options);
  REQUIRE(!verdict.has_value());
  CHECK(verdict.error().message.find("no device") != std::string::npos);
  const auto info = client->info();
  REQUIRE(info.has_value());
  CHECK(std::any_of(info->notes.begin(), info->notes.end(), [](const std::string &note) {
    return note.find("No CPU backend: /nonexistent/worker is not there") != std::string::npos;
  }));
}

TEST_CASE("one service serves many clients over a socket, and a client that leaves takes its jobs "
          "along") {
  const Environment environment("");
  const Folder folder;
  const std::string socket = (folder.path / "runner.sock").string();
  auto service = Process::spawn({kRunner, "serve", "--socket", socket}, {.pipe_stderr = true});
  REQUIRE(service.has_value());
  const int errors = service->release_stderr();
  std::string said;
  for (char c; !said.ends_with(".sock\n") && read(errors, &c, 1) == 1;)
    said += c;
  REQUIRE(said.find("listening on " + socket) != std::string::npos);
  const std::string url = "unix:" + socket;
  auto first = connect_to(url), second = connect_to(url);
  auto one = std::async(std::launch::async, [&] { return ask(*first, "square"); });
  auto two = std::async(std::launch::async, [&] { return ask(*second, "skip_last"); });
  check_verdict(one.get(), Outcome::Verified, "correct");
  check_verdict(two.get(), Outcome::WrongResult, "unwritten");
  {
    auto leaver = connect_to(url);
    std::stop_source stop;
    std::promise<void> running;
    auto hanging = std::async(std::launch::async, [&] {
      return leaver->verify(fake_task(), plan_of("candidate", "hang", {"x", "y"}), on_cpu(),
                            stop.get_token(), [&, told = false](const std::string &stage) mutable {
                              if (stage == "verifying" && !std::exchange(told, true))
                                running.set_value();
                            });
    });
    running.get_future().wait();
    stop.request_stop();
    CHECK(!hanging.get().has_value());
  }
  check_verdict(ask(*first, "square"), Outcome::Verified,
                "correct"); // the hanging job holds nothing any more
  const auto second_service =
      run_captured({kRunner, "serve", "--socket", socket}, "", std::chrono::seconds(40));
  REQUIRE(second_service.has_value());
  CHECK(second_service->status.code == 2);
  CHECK(second_service->errors.find("another runner serves it") != std::string::npos);
  service->kill(SIGTERM);
  CHECK(service->wait().code == 0);
  CHECK(!fs::exists(socket));
  close(errors);
}

TEST_CASE("a runner that dies is started again, within limits") {
  const Environment environment("");
  const Folder folder;
  const fs::path script = folder.path / "dying.sh";
  std::ofstream(script) << "#!/bin/sh\nhead -c 20 > /dev/null\nexit 3\n";
  fs::permissions(script, fs::perms::owner_all);
  auto client = connect_to("stdio:" + script.string());
  for (int attempt = 0; attempt < 4; ++attempt) {
    const auto verdict = ask(*client, "square");
    REQUIRE(!verdict.has_value());
    CHECK(verdict.error().message.find("the runner ended while it had a job") != std::string::npos);
  }
  const auto limited = ask(*client, "square");
  REQUIRE(!limited.has_value());
  CHECK(limited.error().message.find("the runner ended 4 times within a minute") !=
        std::string::npos);
}

TEST_CASE("URLs that lead nowhere are errors with a remedy") {
  for (const auto &[url, part] :
       {std::pair{"tcp:host:1", "is not understood"}, std::pair{"stdio:", "names no command"},
        std::pair{"unix:/nonexistent/socket", "cannot reach a runner"},
        std::pair{"stdio:/nonexistent/runner", "cannot start"}}) {
    const auto client = BlockingClient::connect(url);
    REQUIRE(!client.has_value());
    INFO(client.error().message);
    CHECK(client.error().message.find(part) != std::string::npos);
  }
}

TEST_CASE("verify prints the verdict and exits by it; doctor says what is there") {
  const Environment environment("");
  const Folder folder;
  const auto write = [&](const std::string &name, const nlohmann::json &document) {
    std::ofstream(folder.path / name) << document.dump();
    return (folder.path / name).string();
  };
  const std::string task = write("task.json", model::to_json(fake_task()));
  const std::string right =
      write("right.json", model::to_json(plan_of("candidate", "square", {"x", "y"})));
  const std::string wrong =
      write("wrong.json", model::to_json(plan_of("candidate", "skip_last", {"x", "y"})));
  const auto run = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kRunner);
    auto result = run_captured(arguments, "", std::chrono::seconds(60));
    REQUIRE(result.has_value());
    return *result;
  };
  const auto verified = run({"verify", task, right, "--device", "cpu", "--json"});
  CHECK(verified.status.code == 0);
  const auto verdict = model::verdict_from_json(nlohmann::json::parse(verified.output));
  REQUIRE(verdict.has_value());
  CHECK(verdict->outcome == Outcome::Verified);
  const auto refused = run({"verify", task, wrong, "--device", "cpu"});
  CHECK(refused.status.code == 1);
  CHECK(refused.output.find("wrong_result: the candidate leaves 1 elements of y unwritten") !=
        std::string::npos);
  const auto missing = run({"verify", task, "/nonexistent.json", "--json"});
  CHECK(missing.status.code == 2);
  CHECK(missing.errors.find("cannot open /nonexistent.json") != std::string::npos);
  const auto swapped = run({"verify", right, task});
  CHECK(swapped.status.code == 2);
  CHECK(swapped.errors.find("does not fit its schema") != std::string::npos);
  const auto doctor = run({"doctor", "--json"});
  CHECK(doctor.status.code == 0);
  CHECK(nlohmann::json::parse(doctor.output)["usable"] == true);
}

} // namespace
} // namespace warpwright::runner
