// `warpwright capture` as a program, with the fake driver of tests/runner/capture.
#include "tests/runner/capture/capture_fixture.h"

#include <fstream>

using namespace warpwright;
using namespace warpwright::capture;

namespace {

namespace fs = std::filesystem;

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Runs `warpwright capture`, with a cache in the folder.
CapturedRun run(const CaptureFolder &folder, std::vector<std::string> arguments,
                const std::vector<std::string> &more = {}, const std::string &input = "") {
  arguments.insert(arguments.begin(), {WARPWRIGHT_BINARY_DIR "/warpwright", "capture"});
  std::vector<std::string> environment{"XDG_CACHE_HOME=" + folder.path.string(),
                                       "CUDA_HOME=" WARPWRIGHT_CAPTURE_TEST_DIR "/toolkit"};
  environment.insert(environment.end(), more.begin(), more.end());
  const auto ran = run_captured(arguments, input, std::chrono::seconds(60),
                                {.environment = environment, .pipe_stderr = true});
  REQUIRE_MESSAGE(ran, (ran ? "" : describe(ran.error())));
  return *ran;
}

} // namespace

TEST_CASE("a captured program keeps its output and exit code, and the table goes to stderr") {
  const CaptureFolder folder;
  const CapturedRun ran = run(folder, {"--", CaptureFolder::program(), "launches"});
  CHECK(ran.status.code == 7);
  CHECK(ran.output == "launches: errno 123, signal threads 0\n");
  CHECK(has(ran.errors, "  scale(float*, int, float)    101    202 us  95.1%  4     256\n"));
  CHECK(has(ran.errors, "Capture: " + folder.path.string() + "/warpwright/captures/"));

  const CapturedRun list = run(folder, {"--list"});
  CHECK(list.status.code == 0);
  CHECK(has(list.output, "  1 process, 104 launches, "));
  const std::string name = list.output.substr(0, list.output.find(' '));
  const fs::path stored = folder.path / "warpwright/captures" / name;
  const auto facts = read_run(stored);
  REQUIRE(facts);
  CHECK(facts->status == 7);
  CHECK(facts->command == std::vector<std::string>{CaptureFolder::program(), "launches"});
  CHECK(fs::exists(stored / ".gitignore"));

  CHECK(run(folder, {"--delete", name}).output == "Deleted: " + name + "\n");
  CHECK_FALSE(fs::exists(stored));
  const CapturedRun again = run(folder, {"--delete", name});
  CHECK(again.status.code == 1);
  CHECK(has(again.errors, "there is no capture '" + name + "'"));
}

TEST_CASE("arguments after -- belong to the program, and stdin too") {
  const CaptureFolder folder;
  const CapturedRun ran =
      run(folder,
          {"--out", (folder.path / "out").string(), "--", "sh", "-c", "echo \"$*\"; cat; exit 5",
           "sh", "--", "--list", "--kernelbench", "[1,2]"},
          {}, "typed");
  CHECK(ran.status.code == 5);
  CHECK(ran.output == "-- --list --kernelbench [1,2]\ntyped");
  CHECK(has(ran.errors, "Nothing was recorded"));
  CHECK(fs::exists(folder.path / "out" / kRunFile));
}

TEST_CASE("a capture that cannot be made says why before the program runs") {
  const CaptureFolder folder;
  const std::string mark = (folder.path / "mark").string();
  std::ofstream(folder.path / "file");
  const auto refused = [&](std::vector<std::string> arguments, const std::vector<std::string> &more,
                           int code, const std::string &reason) {
    const CapturedRun ran = run(folder, std::move(arguments), more);
    CHECK(ran.status.code == code);
    CHECK_MESSAGE(has(ran.errors, reason), ran.errors);
    CHECK_FALSE(fs::exists(mark));
  };
  refused({}, {}, 2, "Write it after --");
  refused({"touch", mark}, {}, 2, "");
  refused({"--for", "never", "--", "touch", mark}, {}, 2, "never");
  refused({"--out", folder.path.string(), "--", "touch", mark}, {}, 2, "not an empty folder");
  refused({"--", "touch", mark}, {"CUDA_INJECTION64_PATH=/opt/other.so"}, 1, "another profiler");
  refused({"--", "/no/such/program"}, {}, 127, "cannot start /no/such/program");
}

TEST_CASE("a CUPTI that another profiler holds is named") {
  const CaptureFolder folder;
  const CapturedRun ran =
      run(folder, {"--", CaptureFolder::program(), "launches"}, {"FAKE_CUPTI_REFUSES=subscribe"});
  CHECK(ran.status.code == 7);
  CHECK(has(ran.errors, "Nothing was recorded: CUPTI refuses to subscribe: another profiler or "
                        "debugger holds CUPTI.\n"));
}
