// Child processes: streams, exit statuses, failures to start, time limits, what children inherit.
#include "support/process.h"

#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

namespace warpwright {
namespace {

using namespace std::chrono_literals;

CapturedRun run(const std::string &script, const std::string &input = "",
                const ProcessOptions &options = {}) {
  auto result = run_captured({"/bin/sh", "-c", script}, input, 20s, options);
  REQUIRE_MESSAGE(result.has_value(), (result ? "" : describe(result.error())));
  return *result;
}

TEST_CASE("both streams, input and exit status of a child are captured") {
  const CapturedRun result = run("cat; echo oops >&2; exit 3", "hello");
  CHECK(result.output == "hello");
  CHECK(result.errors == "oops\n");
  CHECK(result.status.code == 3);
  CHECK(result.status.signal == 0);
  CHECK(run("kill -SEGV $$").status.signal == SIGSEGV);
}

TEST_CASE("large input and output do not wait for each other") {
  const std::string megabytes(8 << 20, 'x');
  CHECK(run("cat", megabytes).output == megabytes);
  CHECK(run("exit 0", megabytes).status.code == 0); // nobody reads it
}

TEST_CASE("a command that cannot start is an error that names it") {
  const auto missing = run_captured({"/nonexistent/tool"}, "", 5s);
  REQUIRE(!missing.has_value());
  CHECK(missing.error().message == "cannot start /nonexistent/tool: No such file or directory");
  CHECK(!Process::spawn({}).has_value());
  const auto folder = Process::spawn({"/bin/true"}, {.working_directory = "/nonexistent"});
  CHECK(!folder.has_value());
}

TEST_CASE("a child that does not end in time is killed, also when it closed its streams") {
  for (const char *script : {"while :; do :; done", "exec >&- 2>&-; while :; do :; done"}) {
    const auto result = run_captured({"/bin/sh", "-c", script}, "", 100ms);
    REQUIRE(!result.has_value());
    CHECK(result.error().message == "/bin/sh did not end within 100 ms");
  }
}

TEST_CASE("options reach the child, and descriptors do not") {
  const int leak = open("/dev/null", O_RDONLY); // without O_CLOEXEC
  const CapturedRun result =
      run("echo $WARPWRIGHT_A $HOME; pwd; ls /proc/self/fd | wc -l", "",
          {.environment = {"WARPWRIGHT_A=1", "HOME=/replaced"}, .working_directory = "/usr"});
  close(leak);
  CHECK(result.output == "1 /replaced\n/usr\n4\n"); // 0, 1, 2 and the directory that ls reads
}

TEST_CASE("a child can be kept from variables that it has no business with") {
  setenv("WARPWRIGHT_SECRET_TOKEN", "hunter2", 1);
  setenv("WARPWRIGHT_PLACE_A", "here", 1);
  const CapturedRun result =
      run("echo \"[$WARPWRIGHT_SECRET_TOKEN]$WARPWRIGHT_PLACE_A$WARPWRIGHT_OWN\"", "",
          {.environment = {"WARPWRIGHT_OWN=!"}, .inherited = {"PATH", "WARPWRIGHT_PLACE_*"}});
  unsetenv("WARPWRIGHT_SECRET_TOKEN");
  unsetenv("WARPWRIGHT_PLACE_A");
  CHECK(result.output == "[]here!\n");
}

TEST_CASE("the destructor kills and reaps") {
  pid_t pid = -1;
  {
    auto process = Process::spawn({"/bin/sh", "-c", "while :; do :; done"});
    REQUIRE(process.has_value());
    pid = process->pid();
    CHECK(!process->poll());
    Process moved = std::move(*process);
    CHECK(moved.pid() == pid);
    CHECK(kill(pid, 0) == 0);
  }
  CHECK(kill(pid, 0) != 0);
}

} // namespace
} // namespace warpwright
