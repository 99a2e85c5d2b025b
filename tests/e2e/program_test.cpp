// `warpwright optimize --program` on a program with a makefile, which is built for the CPU and runs on the fake driver
// of tests/runner/capture. Variants are verified by the CPU backend; builds, runs, comparisons and patches are real.
#include "support/files.h"
#include "support/process.h"

#include <algorithm>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <thread>

using namespace warpwright;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr char kData[] = WARPWRIGHT_SOURCE_DIR "/tests/data/program";

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

/// A copy of the program of tests/data/program, with caches of its own.
struct Project {
  fs::path root, folder;
  Project() {
    std::string name = (fs::temp_directory_path() / "warpwright-project-XXXXXX").string();
    root = ::mkdtemp(name.data());
    folder = root / "sources";
    fs::create_directories(folder);
    for (const char *file : {"main.cu", "Makefile"})
      fs::copy_file(fs::path(kData) / file, folder / file);
  }
  ~Project() { fs::remove_all(root); }

  std::string text(const std::string &file) const {
    const auto read = read_file(folder / file);
    REQUIRE_MESSAGE(read, file);
    return *read;
  }
  void write(const std::string &file, const std::string &text) const { std::ofstream(folder / file) << text; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  ProcessOptions options() const {
    return {.environment = {"XDG_CACHE_HOME=" + (root / "cache").string(),
                            "XDG_STATE_HOME=" + (root / "state").string(),
                            "CUDA_HOME=" WARPWRIGHT_CAPTURE_TEST_DIR "/toolkit", "NO_COLOR=1",
                            "TMPDIR=" + root.string(), std::string("SHIM=") + kData + "/shim",
                            "FAKE_INCLUDE=" WARPWRIGHT_SOURCE_DIR "/tests/runner/capture",
                            "FAKE_LIB=" WARPWRIGHT_CAPTURE_TEST_DIR},
            .working_directory = folder.string(),
            .pipe_stderr = true};
  }
  CapturedRun run(const std::vector<std::string> &command) const {
    const auto ran = run_captured(command, "", std::chrono::seconds(300), options());
    REQUIRE_MESSAGE(ran, (ran ? "" : describe(ran.error())));
    INFO(ran->errors);
    REQUIRE(ran->status.signal == 0);
    return *ran;
  }
  std::vector<std::string> command(const std::vector<std::string> &more, const std::string &variants = "3") const {
    std::vector<std::string> command{WARPWRIGHT_BINARY_DIR "/warpwright",
                                     "optimize",
                                     "--program",
                                     "make run",
                                     "--device",
                                     "cpu",
                                     "--max-variants",
                                     variants,
                                     "--budget",
                                     "60s"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  CapturedRun optimize(const std::vector<std::string> &more) const { return run(command(more)); }
};

Json kernel_of(const Json &program, const std::string &name) {
  for (const Json &kernel : program["kernels"])
    if (kernel["name"] == name)
      return kernel;
  FAIL(name);
  return {};
}

} // namespace

TEST_CASE("a program ends with a report and a patch, and its folder stays as it is") {
  const Project project;
  const std::string before = project.text("main.cu");
  const fs::path patch = project.root / "faster.patch";
  const CapturedRun ran =
      project.optimize({"--json", "--patch", patch.string(), "--html", (project.root / "page.html").string()});
  INFO(ran.errors);
  REQUIRE(ran.status.code == 0);
  const Json program = Json::parse(ran.output)["program"];
  CHECK(program["build"] == "make");
  CHECK(program["kernels"].size() == 2);
  const Json scale = kernel_of(program, "scale"), shift = kernel_of(program, "shift");
  CHECK(program["kernels"][0] == scale); // it could save more
  CHECK(scale["launches"] == 30);
  CHECK(scale["total_ns"] == 30'000);
  CHECK(scale["gpu_share"].get<double>() == doctest::Approx(30'000.0 / 41'000));
  CHECK(scale["budget_ms"] == 45'000);
  CHECK(shift["budget_ms"].get<int>() > 15'000); // it has what the first search left
  CHECK(scale["state"] == "kept");
  CHECK(shift["state"] == "kept");
  CHECK(scale["changed_total_ns"] == 30'000);
  CHECK(program["first_runs_s"]["samples"] == 3);
  CHECK(program["ratio"]["samples"].get<int>() >= 6);
  CHECK(program["ratio"]["low"].get<double>() <= program["ratio"]["high"].get<double>());
  CHECK(program["texts"] == 2); // stdout and result.txt
  CHECK(has(program["not_compared"][0].get<std::string>(), "stdout: 1 number or word is masked"));
  CHECK(program["tests"] == 1);
  CHECK(program["changed_files"] == Json::array({"main.cu"}));
  CHECK(has(*read_file(project.root / "page.html"), "id='program'"));

  // Nothing was written into the folder, and nothing is left in the folder for temporary files.
  CHECK(project.files() == std::vector<std::string>{"Makefile", "main.cu"});
  CHECK(project.text("main.cu") == before);
  for (const auto &entry : fs::directory_iterator(project.root))
    CHECK_FALSE(entry.path().filename().string().starts_with("warpwright-program"));

  // The patch is what patch -p1 takes, and the patched program computes the same.
  CHECK(*read_file(patch) == program["patch"].get<std::string>());
  const CapturedRun original = project.run({"make", "run"});
  const std::string result = project.text("result.txt");
  REQUIRE(project.run({"patch", "-p1", "-i", patch.string()}).status.code == 0);
  CHECK(project.text("main.cu") != before);
  fs::remove(project.folder / "result.txt");
  const CapturedRun patched = project.run({"make", "run"});
  CHECK(patched.status.code == 0);
  CHECK(project.text("result.txt") == result);
}

TEST_CASE("an edit with which the program fails is found, and the others are kept and applied") {
  const Project project;
  // The check refuses each change of the launch of `shift`, as a program with a hidden dependency would.
  const CapturedRun ran = project.optimize(
      {"--policy", "search", "--apply=checked", "--check",
       "grep -qF 'shift<<<(n + 255) / 256, 256>>>' main.cu && grep -q checksum \"$WARPWRIGHT_STDOUT\""});
  INFO(ran.errors);
  INFO(ran.output);
  REQUIRE(ran.status.code == 0);
  CHECK(has(ran.output, "left out: the check 'grep -qF"));
  CHECK(has(ran.output, "1 kept, 1 left out"));
  CHECK(has(ran.output, "Applied to main.cu."));
  CHECK(has(ran.output, "use it with: patch -p1 <" + (project.root / "state").string()));
  CHECK(has(project.text("main.cu"), "    shift<<<(n + 255) / 256, 256>>>(x, y, n);\n"));
  CHECK_FALSE(has(project.text("main.cu"), "    scale<<<(n + 255) / 256, 256>>>(x, n, 1.25f);\n"));
}

TEST_CASE("a build that fails with every edit leaves the program as it is, with the reason") {
  const Project project;
  project.write("Makefile", project.text("Makefile") + "\nmain: original\noriginal:\n\tcmp main.cu " +
                                (fs::path(kData) / "main.cu").string() + "\n.PHONY: original\n");
  const CapturedRun ran = project.optimize({"--json"});
  INFO(ran.errors);
  CHECK(ran.status.code == 0);
  const Json program = Json::parse(ran.output)["program"];
  CHECK(program["patch"] == "");
  CHECK(has(program["outcome"], "Nothing is changed"));
  CHECK(kernel_of(program, "scale")["state"] == "left out");
  CHECK(has(kernel_of(program, "scale")["why"], "differ"));
  CHECK(program["tests"] == 3);
}

TEST_CASE("Ctrl-C during a search ends it, and the report comes") {
  const Project project;
  ProcessOptions options = project.options();
  const fs::path out = project.root / "out", told = project.root / "told";
  std::string command = "exec >" + out.string() + " 2>" + told.string() + "; exec";
  for (const std::string &word : project.command({"--json"}, "100000"))
    command += " '" + word + "'";
  auto process = Process::spawn({"/bin/sh", "-c", command}, options);
  REQUIRE(process);
  while (!process->poll() && !has(read_file(told).value_or(""), " s of search"))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  process->kill(SIGINT);
  const ExitStatus status = process->wait();
  INFO(*read_file(told));
  CHECK(status.code == 0);
  const Json program = Json::parse(*read_file(out))["program"];
  CHECK(program["interrupted"] == true);
  CHECK(program["ratio"].is_null());
  CHECK(kernel_of(program, "shift")["why"] == "interrupted before it");
  CHECK(project.files() == std::vector<std::string>{"Makefile", "main.cu"});
}

TEST_CASE("what makes the work impossible is said before or instead of a search") {
  const Project project;
  const auto told = [&](const std::vector<std::string> &more, int code, const std::string &reason) {
    const CapturedRun ran = project.optimize(more);
    CHECK(ran.status.code == code);
    CHECK_MESSAGE(has(ran.errors, reason), ran.errors);
  };
  told({"--build", "false"}, 1, "the build 'false' ended with the status 1");
  told({"--check", "false"}, 1, "the original program fails: the check 'false' ended with the status 1");
  told({"/etc"}, 2, "/etc");
  const CapturedRun unrecorded =
      project.run({WARPWRIGHT_BINARY_DIR "/warpwright", "optimize", "--program", "true", "--device", "cpu"});
  CHECK(unrecorded.status.code == 1);
  CHECK(has(unrecorded.errors, "no kernel was recorded"));
  project.write("Makefile", "all:\nrun:\n\texit 3\n");
  told({}, 1, "the original program fails: it ended with the status 2");
  fs::remove(project.folder / "Makefile");
  told({}, 2, "Name the command with --build");
  const CapturedRun stray =
      project.run({WARPWRIGHT_BINARY_DIR "/warpwright", "optimize", "main.cu", "--check", "true"});
  CHECK(stray.status.code == 2);
  CHECK(has(stray.errors, "belong to --program"));
}
