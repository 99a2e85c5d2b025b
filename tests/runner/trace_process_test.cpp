// Processes that import torch ahead, with a host that tells who answers in place of torch's.
#include "runner/service/trace_process.h"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

/// Writes its process id to a file, then answers with it; the first one ends at once where the file's name says so.
constexpr const char *kHost = R"(
import json, os, sys
pids = sys.argv[1]
first = not os.path.exists(pids)
open(pids, 'a').write(f'{os.getpid()}\n')
if first and pids.endswith('.short-lived'):
    sys.exit(0)
while True:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        length = int(line.split(b':')[1])
    if not length:
        sys.exit(0)
    request = json.loads(sys.stdin.buffer.read(length))
    body = json.dumps({'jsonrpc': '2.0', 'id': request['id'], 'result': {'pid': os.getpid()}}).encode()
    sys.stdout.buffer.write(b'Content-Length: %d\r\n\r\n' % len(body) + body)
    sys.stdout.buffer.flush()
)";

class Traces {
public:
  explicit Traces(const std::string &name,
                  std::chrono::milliseconds idle = std::chrono::minutes(5)) {
    char folder[] = "/tmp/warpwright-test-XXXXXX";
    folder_ = mkdtemp(folder);
    pids_ = folder_ / name;
    process_ = std::make_shared<TraceProcess>(
        io_.get_executor(), TraceSettings{.command = {"python3", "-c", kHost, pids_.string()},
                                          .environment = {},
                                          .idle = idle});
  }
  ~Traces() {
    process_->stop();
    fs::remove_all(folder_);
  }

  TraceProcess &process() { return *process_; }

  std::vector<int> started() const {
    std::ifstream file(pids_);
    std::vector<int> found;
    for (int pid; file >> pid;)
      found.push_back(pid);
    return found;
  }

  template <class Condition>
  void run_until(const Condition &holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds() && std::chrono::steady_clock::now() < end) {
      io_.restart();
      io_.run_for(std::chrono::milliseconds(10));
    }
    CHECK(holds());
  }

  void run_a_while() {
    io_.restart();
    io_.run_for(std::chrono::milliseconds(50));
  }

  /// Process id of whoever answers; 0: nobody.
  int ask(bool stays = false) {
    std::optional<rpc::Outcome> answer;
    process_->start(
        rpc::Json::array({{{"source", ""}}}),
        [&](rpc::Outcome outcome) { answer = std::move(outcome); }, stays);
    run_until([&] { return answer.has_value(); });
    return answer && *answer ? (**answer)["pid"].get<int>() : 0;
  }

private:
  boost::asio::io_context io_;
  fs::path folder_, pids_;
  std::shared_ptr<TraceProcess> process_;
};

bool is_gone(int pid) { return !fs::exists("/proc/" + std::to_string(pid)); }

TEST_CASE("a trace that was prepared is answered by the process that waited") {
  Traces traces("pids");
  traces.process().prepare();
  traces.run_until([&] { return traces.started().size() == 1; });
  CHECK(traces.ask() == traces.started()[0]);
  CHECK(traces.started().size() == 1);
}

TEST_CASE("a trace that was not prepared starts a process") {
  Traces traces("pids");
  CHECK(traces.ask() > 0);
  CHECK(traces.started().size() == 1);
}

TEST_CASE("a prepared process that ended before it was asked is replaced") {
  Traces traces("pids.short-lived");
  traces.process().prepare();
  traces.run_until([&] { return traces.started().size() == 1; });
  traces.run_until([&] { return is_gone(traces.started()[0]); });
  const int answered = traces.ask();
  REQUIRE(traces.started().size() == 2);
  CHECK(answered == traces.started()[1]);
}

TEST_CASE("a prepared process that nobody asks ends, and the next trace starts one") {
  Traces traces("pids", std::chrono::milliseconds(1));
  traces.process().prepare();
  traces.run_a_while(); // longer than it is kept; it may not even have begun
  CHECK(traces.ask() == traces.started().back());
  if (traces.started().size() == 2)
    CHECK(is_gone(traces.started()[0]));
}

TEST_CASE("a process that stays answers the next trace too, and one that does not has ended") {
  Traces traces("pids");
  const int first = traces.ask(true);
  CHECK(traces.process().is_ready());
  CHECK(traces.ask(false) == first);
  CHECK_FALSE(traces.process().is_ready());
  CHECK(traces.ask() != first);
  CHECK(is_gone(first));
}

} // namespace
} // namespace warpwright::runner
