// The service and a client whose line is dead without a word: no end of stream, no answer to pings.
#include "runner/service/service.h"
#include "tests/runner/manual_runner.h"
#include "tests/runner/tasks.h"

#include <boost/asio/io_context.hpp>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using testing::ManualRunner;

/// The client's end of a line, read and written by hand.
struct Line {
  int descriptor = -1;
  std::string received;

  Line(Service &service, boost::asio::io_context &loop, std::function<void()> on_end) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    descriptor = ends[1];
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    service.add_client(rpc::make_descriptor_stream(loop.get_executor(), ends[0], ends[0]),
                       {Arrival::Kind::Local, "test"}, std::move(on_end));
  }
  ~Line() { close(descriptor); }
  void send(const rpc::Json &message) const {
    const std::string body = message.dump();
    const std::string frame = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    REQUIRE(write(descriptor, frame.data(), frame.size()) == ssize_t(frame.size()));
  }
  bool has_received(const std::string &part) {
    char block[4096];
    for (ssize_t size; (size = read(descriptor, block, sizeof block)) > 0;)
      received.append(block, static_cast<std::size_t>(size));
    return received.find(part) != std::string::npos;
  }
};

rpc::Json verify_request() {
  const model::Task task = testing::square_task(64);
  return {{"jsonrpc", "2.0"},
          {"id", 1},
          {"method", "verify"},
          {"params",
           {{"task", model::to_json(task)},
            {"plan", model::to_json(task.reference)},
            {"options", {{"job", "key"}}}}}};
}

TEST_CASE("a line that is dead without a word is given up, and its job waits for the next line") {
  boost::asio::io_context loop;
  const auto run_until = [&](const std::function<bool()> &done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      loop.restart();
      loop.run_one_for(std::chrono::milliseconds(20));
    }
    CHECK(done());
  };
  ManualRunner runner;
  ServiceLimits limits;
  limits.keepalive = {std::chrono::milliseconds(20), std::chrono::milliseconds(200)};
  Service service(loop.get_executor(), runner, limits);
  bool dropped = false;
  {
    Line dead(service, loop, [&] { dropped = true; });
    dead.send(verify_request());
    run_until([&] { return runner.submitted == 1; });
    run_until([&] { return dropped; });
    CHECK(dead.has_received("\"ping\""));
  }
  CHECK(runner.cancelled == 0);
  CHECK(service.clients() == 0);
  Line next(service, loop, [] {});
  next.send(verify_request());
  run_until([&] {
    runner.end(1, rpc::Json("the verdict"));
    return next.has_received("the verdict");
  });
  CHECK(runner.submitted == 1);
  run_until([&] { return service.clients() == 0; });
}

} // namespace
} // namespace warpwright::runner
