// `warpwright capture` as a program, with the fake driver of tests/runner/capture.
#include "runner/capture/files/contents.h"
#include "tests/runner/capture/capture_fixture.h"

#include <fstream>

using namespace warpwright;
using namespace warpwright::capture;

namespace {

namespace fs = std::filesystem;

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Runs `warpwright`, with a cache in the folder.
CapturedRun run_command(const CaptureFolder &folder, std::vector<std::string> arguments,
                        const std::vector<std::string> &more = {}, const std::string &input = "",
                        const std::string &working_directory = "") {
  arguments.insert(arguments.begin(), WARPWRIGHT_BINARY_DIR "/warpwright");
  std::vector<std::string> environment{"XDG_CACHE_HOME=" + folder.path.string(),
                                       "CUDA_HOME=" WARPWRIGHT_CAPTURE_TEST_DIR "/toolkit"};
  environment.insert(environment.end(), more.begin(), more.end());
  const auto ran = run_captured(
      arguments, input, std::chrono::seconds(60),
      {.environment = environment, .working_directory = working_directory, .pipe_stderr = true});
  REQUIRE_MESSAGE(ran, (ran ? "" : describe(ran.error())));
  return *ran;
}

/// `warpwright capture`.
CapturedRun run(const CaptureFolder &folder, std::vector<std::string> arguments,
                const std::vector<std::string> &more = {}, const std::string &input = "") {
  arguments.insert(arguments.begin(), "capture");
  return run_command(folder, std::move(arguments), more, input);
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

TEST_CASE("with --contents the program runs twice, and its output comes once") {
  const CaptureFolder folder;
  const CapturedRun ran = run(folder, {"--contents", "--", CaptureFolder::program(), "contents"});
  CHECK(ran.status.code == 7);
  CHECK(ran.output == "contents: errno 123, signal threads 0\n");
  CHECK(has(ran.errors, "Buffers seen: 1 of 1 launches\n"));
  const auto stored = fs::directory_iterator(folder.path / "warpwright/captures")->path();
  const auto seen = read_contents(stored);
  REQUIRE(seen);
  REQUIRE(seen->size() == 1);
  CHECK(seen->front().types.contains("int32"));
}

TEST_CASE("analyze knows from a captured run what the text does not say, and each kernel's time") {
  const CaptureFolder folder;
  const fs::path project = folder.path / "project";
  fs::create_directories(project);
  std::ofstream(project / "scale.cu") << R"(#include <cuda_runtime.h>
int count_of(const char *path);
__global__ void scale(float *x, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= factor;
}
void run(const char *path) {
  const int count = count_of(path);
  float *x;
  cudaMalloc(&x, count * sizeof(float));
  scale<<<(count + 255) / 256, 256, 64>>>(x, count, 3.0f);
}
)";
  const auto analyzed = [&] {
    return run_command(folder, {"analyze", "scale.cu"}, {}, "", project.string()).output;
  };
  CHECK(has(analyzed(), "task             asks for count_of_path"));
  CHECK(run_command(folder, {"capture", "--", CaptureFolder::program(), "launches"}, {}, "",
                    project.string())
            .status.code == 7);
  const std::string after = analyzed();
  CHECK_MESSAGE(has(after, "task             known"), after);
  CHECK_MESSAGE(has(after, "assumed: count_of_path is 1000, from the run of "), after);
  CHECK_MESSAGE(has(after, "run              95% of GPU time in the run of "), after);
  CHECK_MESSAGE(has(after, ": 101 launches of 2.00 us on average"), after);
  CHECK_MESSAGE(has(after, "Kernels by the part of GPU time that they could save, in the run of "), after);
  CHECK_MESSAGE(has(after, "       101    2.00 us  scale (scale.cu)\n"), after);
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
