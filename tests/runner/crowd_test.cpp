// Many clients at one service: 200 idle and 50 busy ones.
#include "tests/runner/remote_fixture.h"

#include <boost/asio/io_context.hpp>
#include <fstream>
#include <future>

namespace warpwright::runner {
namespace {

using namespace testing;

constexpr int kIdle = 200, kBusy = 50;

/// A line of /proc/PID/status, such as VmRSS, in KiB.
long memory_kib(pid_t pid, const std::string &name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":"))
      return std::stol(line.substr(name.size() + 1));
  return -1;
}

TEST_CASE("fifty busy clients get their verdicts while two hundred idle ones stay connected") {
  const TemporaryFolder folder;
  const RunningService service(folder.path);
  const std::string url = url_of(service.address(), folder.path);
  boost::asio::io_context loop;
  const long alone_kib = memory_kib(service.pid(), "VmRSS");
  std::vector<std::shared_ptr<Client>> clients;
  int open = 0, verified = 0, answered = 0, reachable = 0;
  for (int i = 0; i < kIdle + kBusy; ++i) {
    auto client = connect(url, loop.get_executor());
    REQUIRE(client.has_value());
    clients.push_back(*client);
    clients.back()->open([&](const Result<void> &opened) { open += opened.has_value(); });
  }
  const auto run_until = [&](const std::function<bool()> &done) {
    const auto deadline = std::chrono::steady_clock::now() + 4 * kPatience;
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      loop.restart();
      loop.run_one_for(std::chrono::milliseconds(100));
    }
    return done();
  };
  REQUIRE(run_until([&] { return open == kIdle + kBusy; }));
  const long connected_kib = memory_kib(service.pid(), "VmRSS");
  for (int i = kIdle; i < kIdle + kBusy; ++i)
    clients[static_cast<std::size_t>(i)]->verify(
        fake_task(), fake_plan("square"), fake_options(), {},
        [&](const Result<model::Verdict> &verdict) {
          ++answered;
          verified += verdict && verdict->outcome == model::Outcome::Verified;
        });
  REQUIRE(run_until([&] { return answered == kBusy; }));
  CHECK(verified == kBusy);
  for (const auto &client : clients)
    client->info([&](const Result<RunnerInfo> &info) { reachable += info.has_value(); });
  REQUIRE(run_until([&] { return reachable == kIdle + kBusy; }));
  CHECK(service.log().find("client lost") == std::string::npos);
  const long peak_kib = memory_kib(service.pid(), "VmHWM");
  MESSAGE("resident KiB of the service: ", alone_kib, " alone, ", connected_kib, " with ",
          kIdle + kBusy, " clients, ", peak_kib, " at its peak");
  // A generous bound: what is held for a client is its TLS state and one read block.
  CHECK((peak_kib - alone_kib) / (kIdle + kBusy) < 1024);
  clients.clear();
  run_until([&] { return true; });
}

TEST_CASE("a full house and a full queue are said in words, and clients come in as others leave") {
  const TemporaryFolder folder;
  const RunningService service(folder.path, {"--max-clients", "2", "--max-queue", "1"});
  const std::string url = url_of(service.address(), folder.path);
  auto first = connect_to(url);
  {
    const auto second = connect_to(url);
    const auto third = BlockingClient::connect(url);
    REQUIRE(!third.has_value());
    CHECK(third.error().message.find("serves its 2 clients already") != std::string::npos);
    std::stop_source stop;
    std::promise<void> running;
    auto hanging = std::async(std::launch::async, [&] {
      return first->verify(fake_task(), fake_plan("hang"), fake_options(), stop.get_token(),
                           [&, told = false](const std::string &stage) mutable {
                             if (stage == "verifying" && !std::exchange(told, true))
                               running.set_value();
                           });
    });
    running.get_future().wait();
    const auto full = second->verify(fake_task(), fake_plan("square"), fake_options(), {});
    REQUIRE(!full.has_value());
    CHECK(full.error().message.find("the queue is full") != std::string::npos);
    stop.request_stop();
    CHECK(!hanging.get().has_value());
  }
  CHECK(eventually([&] { return BlockingClient::connect(url).has_value(); }));
}

TEST_CASE("no job takes longer than the service allows") {
  const TemporaryFolder folder;
  const RunningService service(folder.path, {"--max-job-time", "300"});
  const auto client = connect_to(url_of(service.address(), folder.path));
  const auto verdict = client->verify(fake_task(), fake_plan("hang"), fake_options(600'000), {});
  REQUIRE(verdict.has_value());
  CHECK(verdict->outcome == model::Outcome::Timeout);
}

} // namespace
} // namespace warpwright::runner
