// The deep check and the counters without a GPU: the readers on recorded texts, and whole examinations with
// scripts in the tools' places.
#include "runner/cuda/compiler.h"
#include "runner/deep/examination.h"
#include "runner/deep/examined_sizes.h"
#include "runner/deep/profile_report.h"
#include "runner/deep/sanitizer_report.h"
#include "runner/deep/tool_run.h"
#include "runner/deep/tools.h"
#include "support/model/json.h"
#include "tests/runner/deep_samples.h"
#include "tests/runner/tasks.h"

#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace warpwright::runner::deep {
namespace {

using namespace runner::testing;
using namespace std::chrono_literals;
using model::Outcome;
namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  /// An executable shell script.
  std::string script(const std::string &name, const std::string &text) const {
    std::ofstream(path / name) << "#!/bin/sh\n" << text;
    fs::permissions(path / name, fs::perms::owner_all);
    return (path / name).string();
  }
  void write(const std::string &name, const std::string &text) const {
    std::ofstream(path / name) << text;
  }
};

struct Variable {
  const char *name;
  Variable(const char *name, const std::string &value) : name(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name); }
};

ExaminationRequest request(bool deep, bool profile) {
  ExaminationRequest request;
  request.task = square_task(4096);
  request.plan = square_candidate("  if (i < n) y[i] = x[i] * x[i];");
  request.options.deep = deep;
  request.options.profile = profile;
  request.options.seed = 42;
  request.verdict.outcome = Outcome::Verified;
  request.verdict.device.kind = "cuda";
  request.verdict.speedup = model::Speedup{2, 1.9, 2.1, 40, "GPU"};
  request.device = "cuda:0";
  request.launcher = "/nonexistent/warpwright-runner";
  return request;
}

model::Verdict examined(const ExaminationRequest &request) {
  return examine(request, std::chrono::steady_clock::now() + 60s, {}, [](const std::string &) {});
}

const model::Check &check_named(const model::Verdict &verdict, const std::string &name) {
  static const model::Check none{"none", false, "there is no such check"};
  for (const model::Check &check : verdict.checks)
    if (check.name == name)
      return check;
  return none;
}

/// A sanitizer that prints FOLDER/<tool>.candidate or .reference, whichever plan it is given, and keeps its
/// arguments.
std::string fake_sanitizer(const Folder &folder) {
  return folder.script("compute-sanitizer",
                       "cd " + folder.path.string() +
                           "\necho \"$@\" >> arguments\ntool=$2\nside=candidate\n"
                           "case \"$*\" in *reference.json*) side=reference;; esac\n"
                           "[ -f $tool.$side ] || side=clean\n[ -f $tool.$side ] || tool=memcheck\n"
                           "cat $tool.$side\n");
}

TEST_CASE("a clean report is complete and has no errors") {
  const SanitizerReport memory = read_sanitizer_report(samples::kCleanMemcheck);
  CHECK(memory.complete);
  CHECK(memory.errors == 0);
  CHECK(memory.first == "");
  const SanitizerReport races = read_sanitizer_report(samples::kCleanRacecheck);
  CHECK(races.complete);
  CHECK(races.errors == 0);
  CHECK(!read_sanitizer_report("").complete);
}

TEST_CASE("an access out of bounds is told with the user's line, the thread and the buffer") {
  const SanitizerReport report = read_sanitizer_report(samples::kOutOfBounds);
  CHECK(report.complete);
  CHECK(report.errors == 2);
  CHECK(report.first ==
        "at n=1025: Invalid __global__ read of size 4 bytes at square.cu:12 in square(const float "
        "*, float *, int), by thread (0,0,0) in block (4,0,0): out of bounds, 1 bytes after x "
        "(4100 bytes)");
  CHECK(report.launch_failure.starts_with("running the kernels"));
}

TEST_CASE("older reports and misaligned addresses are understood") {
  CHECK(read_sanitizer_report(samples::kOldMemcheck).first ==
        "Invalid __global__ write of size 2 bytes at /src/user.cu:162 in void store<__half>(T1 *, "
        "int), by thread (63,0,0) in block (506,0,0): a misaligned address");
}

TEST_CASE("the first race that is an error is told with both sides") {
  const SanitizerReport report = read_sanitizer_report(samples::kRace);
  CHECK(report.errors == 1);
  CHECK(report.warnings == 1);
  CHECK(report.first ==
        "at n=1025: Race reported between Write access at line 5 of the plan's "
        "source in square(const float *, float *, int) and Read access at line 6 "
        "of the plan's source in square(const float *, float *, int) [508 hazards]");
}

TEST_CASE("uninitialised reads, divergent barriers and a tool without CUDA are told apart") {
  CHECK(read_sanitizer_report(samples::kUninitialised)
            .first.starts_with("at n=7: Uninitialized __global__ memory read of size 4 bytes at "
                               "square.cu:41 in square("));
  const SanitizerReport barrier = read_sanitizer_report(samples::kDivergentBarrier);
  CHECK(barrier.errors == 32);
  CHECK(barrier.first.starts_with(
      "Barrier error detected. Divergent thread(s) in block at square.cu:61 in square("));
  const SanitizerReport absent = read_sanitizer_report(samples::kNoCuda);
  CHECK(!absent.complete);
  CHECK(absent.launch_failure.starts_with("no NVIDIA driver"));
  CHECK(absent.trouble.starts_with("Error: Target application terminated"));
}

TEST_CASE("counters of several launches become one set with units and a bound") {
  const auto counters = read_profile(samples::kProfile);
  REQUIRE_MESSAGE(counters.has_value(), (counters ? "" : describe(counters.error())));
  const auto value = [&](const std::string &name) {
    const auto found = counters->values.find(name);
    return found == counters->values.end() ? -1 : found->second;
  };
  CHECK(value("kernels") == 2);
  CHECK(value("duration_ns") == 40'000);
  CHECK(value("dram_read_bytes") == 67'141'632);
  CHECK(value("dram_throughput_percent") == doctest::Approx(68));        // (3 * 90.25 + 1.25) / 4
  CHECK(value("global_load_sectors_per_request") == doctest::Approx(5)); // (3 * 4 + 8) / 4
  CHECK(value("shared_load_bank_conflicts") == 1024);
  CHECK(value("local_load_bytes") == 512);
  CHECK(value("tensor_pipe_percent") == doctest::Approx(0.5));
  CHECK(value("achieved_occupancy_percent") == doctest::Approx(69.5));
  CHECK(value("stalled_long_scoreboard_warps_per_issue") == doctest::Approx(19.25));
  CHECK(value("stalled_wait_warps_per_issue") == doctest::Approx(3.5));
  CHECK(value("stalled_barrier_warps_per_issue") == doctest::Approx(1.125));
  CHECK(!counters->values.contains("stalled_short_scoreboard_warps_per_issue")); // the top three
  CHECK(!counters->values.contains("l2_throughput_percent"));                    // not in the text
  CHECK(counters->bound == "memory");
}

TEST_CASE("the bound follows the larger throughput, and latency when neither is large") {
  CHECK(bound_of({{"memory_throughput_percent", 59}, {"sm_throughput_percent", 40}}) == "latency");
  CHECK(bound_of({{"memory_throughput_percent", 49},
                  {"l2_throughput_percent", 65},
                  {"sm_throughput_percent", 41}}) == "memory");
  CHECK(bound_of({{"memory_throughput_percent", 59}, {"sm_throughput_percent", 61}}) == "compute");
  CHECK(bound_of({{"dram_throughput_percent", 20},
                  {"l2_throughput_percent", 75},
                  {"sm_throughput_percent", 70}}) == "memory");
  CHECK(bound_of({{"sm_throughput_percent", 90}}) == "");
}

TEST_CASE("a profiler that may not read counters, or does not know a metric, says so") {
  const auto forbidden = read_profile(samples::kNoPermission);
  REQUIRE(!forbidden.has_value());
  CHECK(forbidden.error().message.find("ERR_NVGPUCTRPERM") != std::string::npos);
  CHECK(forbidden.error().remedy.find("NVreg_RestrictProfilingToAdminUsers") != std::string::npos);
  CHECK(refused_metrics(samples::kUnknownMetric) ==
        std::vector<std::string>{
            "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active"});
  CHECK(refused_metrics("==ERROR== Failed to find metric regex:^dram__bytes_read\\.(sum|min)$") ==
        std::vector<std::string>{"dram__bytes_read.sum"});
}

TEST_CASE("tools are found by their variables, and a wrong one is told") {
  const Folder folder;
  const Variable ncu("WARPWRIGHT_NCU", folder.script("ncu", "exit 0\n"));
  CHECK(find(Tool::Ncu).value() == folder.path / "ncu");
  const Variable sanitizer("WARPWRIGHT_COMPUTE_SANITIZER", "/nonexistent/sanitizer");
  const auto missing = find(Tool::ComputeSanitizer);
  REQUIRE(!missing.has_value());
  CHECK(missing.error().message.find("/nonexistent/sanitizer, which cannot be run") !=
        std::string::npos);
}

TEST_CASE("the examined sizes are the smallest and the largest that is affordable") {
  Task task = square_task(1 << 26);
  const symbolic::Sizes smallest = {{"n", 7}}, large = {{"n", 1025}};
  CHECK(examined_sizes(task, 1 << 24) == std::vector<symbolic::Sizes>{smallest, large});
  CHECK(examined_sizes(task, std::int64_t{1} << 40) ==
        std::vector<symbolic::Sizes>{smallest, task.sizes});
  task.check_sizes.clear();
  CHECK(examined_sizes(task, 10) == std::vector<symbolic::Sizes>{task.sizes});
}

TEST_CASE("a candidate with findings is wrong or a crash, and loses its speedup") {
  const Folder folder;
  const Variable tool("WARPWRIGHT_COMPUTE_SANITIZER", fake_sanitizer(folder));
  folder.write("memcheck.clean", samples::kCleanMemcheck);
  folder.write("racecheck.clean", samples::kCleanRacecheck);
  auto verdict = examined(request(true, false));
  CHECK(verdict.outcome == Outcome::Verified);
  CHECK(verdict.speedup.has_value());
  for (const char *name : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
    CHECK(check_named(verdict, name).passed);
    CHECK(check_named(verdict, name).detail == "at n=7; at n=4096");
  }
  std::ifstream arguments(folder.path / "arguments");
  std::string line;
  std::getline(arguments, line);
  INFO(line);
  CHECK(line.find("--tool memcheck --error-exitcode 86") != std::string::npos);
  CHECK(line.find("candidate.json --device cuda:0 --seed 42 --leash ") != std::string::npos);
  CHECK(line.ends_with("--size n=7 --size n=4096"));

  folder.write("racecheck.candidate", samples::kRace);
  verdict = examined(request(true, false));
  CHECK(verdict.outcome == Outcome::WrongResult);
  CHECK(!verdict.speedup.has_value());
  CHECK(verdict.message.starts_with("racecheck: at n=1025: Race reported between Write access"));
  CHECK(!check_named(verdict, "racecheck").passed);
  CHECK(check_named(verdict, "initcheck").passed);

  folder.write("memcheck.candidate", samples::kOutOfBounds);
  verdict = examined(request(true, false));
  CHECK(verdict.outcome == Outcome::Crash);
  CHECK(verdict.message.find("1 bytes after x (4100 bytes); 2 errors in all") != std::string::npos);
}

TEST_CASE("what the reference does as well is told and not held against the candidate") {
  const Folder folder;
  const Variable tool("WARPWRIGHT_COMPUTE_SANITIZER", fake_sanitizer(folder));
  folder.write("memcheck.clean", samples::kCleanMemcheck);
  folder.write("initcheck.candidate", samples::kUninitialised);
  folder.write("initcheck.reference", samples::kUninitialised);
  folder.write("synccheck.candidate", samples::kDivergentBarrier);
  ExaminationRequest asked = request(true, false);
  asked.plan.source += "\n// asm volatile(\"bar.sync 1, 64;\");\n";
  const auto verdict = examined(asked);
  CHECK(verdict.outcome == Outcome::Verified);
  CHECK(!check_named(verdict, "initcheck").passed);
  CHECK(check_named(verdict, "initcheck").detail.find("the reference is reported for the same") !=
        std::string::npos);
  CHECK(check_named(verdict, "synccheck").detail.find("barriers of parts of a block") !=
        std::string::npos);
}

TEST_CASE("tools that are absent, fail, or do not end leave checks that were not run") {
  const Folder folder;
  {
    const Variable tool("WARPWRIGHT_COMPUTE_SANITIZER", "/nonexistent/tool");
    const Variable ncu("WARPWRIGHT_NCU", "/nonexistent/ncu");
    const auto verdict = examined(request(true, true));
    CHECK(verdict.outcome == Outcome::Verified);
    CHECK(check_named(verdict, "synccheck").passed);
    CHECK(check_named(verdict, "synccheck").detail.starts_with("not run: "));
    CHECK(check_named(verdict, "hardware counters").detail.find("/nonexistent/ncu") !=
          std::string::npos);
    CHECK(!verdict.counters.has_value());
  }
  folder.write("memcheck.clean", samples::kNoCuda);
  {
    const Variable tool("WARPWRIGHT_COMPUTE_SANITIZER", fake_sanitizer(folder));
    const auto verdict = examined(request(true, false));
    CHECK(verdict.outcome == Outcome::Verified);
    CHECK(check_named(verdict, "memcheck")
              .detail.starts_with("not run: the launch failed: no NVIDIA driver"));
  }
  const Variable tool("WARPWRIGHT_COMPUTE_SANITIZER", folder.script("slow", "exec sleep 1000\n"));
  const auto verdict = examine(request(true, false), std::chrono::steady_clock::now() + 300ms, {},
                               [](const std::string &) {});
  CHECK(check_named(verdict, "memcheck").detail.find("did not end within the job's time") !=
        std::string::npos);
}

TEST_CASE(
    "counters of both sides end up in the verdict, and metrics that a chip lacks are dropped") {
  const Folder folder;
  folder.write("profile", samples::kProfile);
  folder.write("complaint", samples::kUnknownMetric);
  const Variable tool("WARPWRIGHT_NCU",
                      folder.script("ncu", "cd " + folder.path.string() +
                                               "\ncase \"$*\" in --version*) echo Version "
                                               "2025.3.1.0 '(build 36398880)';;\n"
                                               "*hmma*) cat complaint; exit 1;;\n*) cat profile;; "
                                               "esac\necho \"$@\" >> arguments\n"));
  const auto verdict = examined(request(false, true));
  REQUIRE(verdict.counters.has_value());
  CHECK(verdict.counters->tool == "ncu 2025.3.1.0");
  CHECK(verdict.counters->sizes == "n=4096");
  REQUIRE(verdict.counters->candidate.has_value());
  REQUIRE(verdict.counters->reference.has_value());
  CHECK(verdict.counters->candidate->bound == "memory");
  CHECK(verdict.counters->reference->values.at("duration_ns") == 40'000);
  CHECK(model::verdict_from_json(model::to_json(verdict)).value() == verdict);
}

TEST_CASE("a stopped run ends the tool and what the tool started") {
  const Folder folder;
  // As a launch under a tool: its parent's death does not end it, the leash does.
  const std::string held = folder.script(
      "held", "exec 9<\"$2\"\necho held > " + (folder.path / "held.is").string() +
                  "\nflock -s 9\necho released > " + (folder.path / "released").string() + "\n");
  const std::string tool = folder.script("tool", held + " launch \"$1\"\n");
  auto leash = Leash::make((folder.path / "leash").string());
  REQUIRE(leash.has_value());
  const std::string path = leash->path();
  std::jthread stopper;
  std::stop_source stop;
  stopper = std::jthread([&] {
    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (!fs::exists(folder.path / "held.is") && std::chrono::steady_clock::now() < limit)
      std::this_thread::yield();
    stop.request_stop();
  });
  const auto run = run_tool({tool, path}, std::move(*leash), std::chrono::steady_clock::now() + 60s,
                            stop.get_token());
  REQUIRE(run.has_value());
  CHECK(run->end == ToolRun::End::Stopped);
  CHECK(fs::exists(folder.path / "released"));
}

TEST_CASE("a process on a leash ends when it is released, and when its holder forgets it") {
  const Folder folder;
  for (const bool released : {true, false}) {
    std::optional<Leash> leash = Leash::make((folder.path / "leash").string()).value();
    const pid_t child = fork();
    if (child == 0) {
      const std::string path = leash->path();
      leash->release(); // the copy of this process; exec would have closed it
      follow_leash(path, 5);
      for (;;)
        pause();
    }
    if (released)
      leash->release();
    else
      leash.reset();
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 5);
  }
}

TEST_CASE("plans compile with line information of the user's file") {
  const auto compiler = cuda::Compiler::make({.compute_capability = 90});
  if (!compiler) {
    MESSAGE("skipped: " << compiler.error().message);
    return;
  }
  const std::string source =
      "#line 77 \"of_the_user.cu\"\n" + square_candidate("  if (i < n) y[i] = x[i];").source;
  const auto output = (*compiler)->compile({source, {"-lineinfo"}, {"square"}});
  REQUIRE(output.has_value());
  CHECK(output->code.cubin.find("of_the_user.cu") != std::string::npos);
  CHECK(output->code.cubin.find(".debug_line") != std::string::npos);
}

TEST_CASE("examinations are for verdicts on which a tool can say more") {
  model::VerifyOptions options;
  model::Verdict verdict;
  verdict.outcome = Outcome::Verified;
  CHECK(!wants_examination(options, verdict));
  options.profile = true;
  CHECK(wants_examination(options, verdict));
  verdict.outcome = Outcome::Crash;
  CHECK(!wants_examination(options, verdict));
  options.deep = true;
  CHECK(wants_examination(options, verdict));
  verdict.outcome = Outcome::WrongResult;
  verdict.checks = {{"runs", false, "arguments"}};
  CHECK(!wants_examination(options, verdict));
  verdict.outcome = Outcome::CompileFailed;
  verdict.checks.clear();
  CHECK(!wants_examination(options, verdict));
}

} // namespace
} // namespace warpwright::runner::deep
