// Replay and examinations through the real programs: warpwright-runner as a child process, with the CPU
// worker, or with a fake worker whose made-up times count and scripts in the tools' places.
#include "runner/connect/connect.h"
#include "runner/deep/verdict_comparison.h"
#include "support/process.h"
#include "support/version.h"
#include "tests/runner/deep_samples.h"
#include "tests/runner/tasks.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using model::Outcome;
using nlohmann::json;
namespace fs = std::filesystem;
namespace samples = deep::samples;

const std::string kRunner = WARPWRIGHT_BINARY_DIR "/warpwright-runner";
const std::string kCpuWorker = WARPWRIGHT_BINARY_DIR "/warpwright-worker-cpu";
const std::string kFakeWorker = WARPWRIGHT_TEST_DIR "/runner_fake_worker";

/// Files and variables of one test; both are taken back.
struct Scene {
  fs::path folder;
  std::vector<std::string> variables;

  explicit Scene(const std::string &fake_worker_mode, const std::string &worker = kFakeWorker) {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    folder = mkdtemp(name);
    set("WARPWRIGHT_RUNNER", kRunner);
    set("WARPWRIGHT_CPU_WORKER", worker);
    set("WARPWRIGHT_FAKE_WORKER", fake_worker_mode);
    // The fake worker lies where a confined one may not read.
    set("WARPWRIGHT_ISOLATION", "off");
  }
  ~Scene() {
    for (const std::string &variable : variables)
      unsetenv(variable.c_str());
    fs::remove_all(folder);
  }
  void set(const std::string &name, const std::string &value) {
    setenv(name.c_str(), value.c_str(), 1);
    variables.push_back(name);
  }
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }
  /// An executable shell script, which starts in the folder.
  std::string script(const std::string &name, const std::string &text) const {
    const std::string path =
        write(name, "#!/bin/sh\ncd " + folder.string() + " || exit 9\n" + text);
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
};

CapturedRun run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kRunner);
  auto result = run_captured(arguments, "", 120s);
  REQUIRE_MESSAGE(result.has_value(), (result ? "" : describe(result.error())));
  return *result;
}

/// The verdict of a fake kernel that is "ten times as fast", and its JSON file.
struct Recorded {
  json document;
  std::string path;
};
Recorded record(const Scene &scene, const std::string &kernel = "fast_square") {
  Task task = square_task(4096);
  task.reference = plan_of("reference", "square", {"x", "y"});
  const std::string task_file = scene.write("task.json", model::to_json(task).dump());
  const std::string plan_file =
      scene.write("plan.json", model::to_json(plan_of("candidate", kernel, {"x", "y"})).dump());
  const CapturedRun verified = run({"verify", task_file, plan_file, "--device", "cpu", "--json"});
  INFO(verified.errors);
  REQUIRE(verified.status.code <= 1);
  return {json::parse(verified.output), scene.write("verdict.json", verified.output)};
}

TEST_CASE("a verdict printed by verify can be replayed, and the same kernel is the same") {
  const Scene scene("measure");
  const Recorded recorded = record(scene);
  const json &options = recorded.document["record"]["options"];
  CHECK(options["seed"].get<std::uint64_t>() != 0);
  CHECK(recorded.document["record"]["runner_version"] == version());
  const CapturedRun told = run({"replay", recorded.path});
  INFO(told.output << told.errors);
  CHECK(told.status.code == 0);
  CHECK(told.output.starts_with("SAME\n"));
  CHECK(told.output.find("equal within 1%") != std::string::npos);
  CHECK(told.output.find("method: log-normal") != std::string::npos);
  const CapturedRun fresh = run({"replay", recorded.path, "--json"});
  const json answer = json::parse(fresh.output);
  CHECK(answer["result"] == "SAME");
  CHECK(answer["speedup"]["ratio"]["low"] < 1.001);
  CHECK(answer["verdict"]["record"]["options"]["seed"] != options["seed"]);
  const CapturedRun same = run({"replay", recorded.path, "--json", "--same-seed"});
  CHECK(json::parse(same.output)["verdict"]["record"]["options"]["seed"] == options["seed"]);
}

TEST_CASE("the one verdict of a report of optimizations is replayed, of several none") {
  const Scene scene("measure");
  const Recorded recorded = record(scene);
  const auto replayed = [&](const json &kernels) {
    return run({"replay", scene.write("report.json", json{{"kernels", kernels}}.dump())});
  };
  const json measured = {{"name", "scale"}, {"verdict", recorded.document}};
  const json none = {{"name", "slow"}, {"verdict", nullptr}};
  CHECK(replayed({none, measured}).output.starts_with("SAME\n"));
  const CapturedRun several = replayed({measured, measured});
  CHECK(several.status.code == 2);
  CHECK(several.errors.find("several verdicts, of scale, scale") != std::string::npos);
  CHECK(replayed({none}).errors.find("the report has no kernel") != std::string::npos);
}

TEST_CASE("a kernel that was slower or faster before is told so, and only slower fails") {
  const Scene scene("measure");
  Recorded recorded = record(scene);
  const auto before = [&](double ratio) {
    recorded.document["speedup"]["ratio"] = ratio;
    recorded.document["speedup"]["low"] = ratio * 0.99;
    recorded.document["speedup"]["high"] = ratio * 1.01;
    return run({"replay", scene.write("changed.json", recorded.document.dump())});
  };
  const CapturedRun faster = before(5);
  CHECK(faster.status.code == 0);
  CHECK(faster.output.starts_with("FASTER\n"));
  CHECK(faster.output.find("candidate's device time in us: 0.1") != std::string::npos);
  const CapturedRun slower = before(20);
  CHECK(slower.status.code == 1);
  CHECK(slower.output.starts_with("SLOWER\n"));
  recorded.document["device"]["driver"] = "CUDA 1.0";
  recorded.document["outcome"] = "wrong_result";
  const CapturedRun other = before(10);
  CHECK(other.status.code == 1);
  CHECK(other.output.starts_with("DIFFERENT OUTCOME\n  wrong_result on "));
  CHECK(other.output.find("not the same driver: CUDA 1.0, now unknown") != std::string::npos);
}

TEST_CASE("what cannot be replayed is said, with exit code 2") {
  const Scene scene("measure");
  Recorded recorded = record(scene);
  recorded.document.erase("record");
  const CapturedRun bare = run({"replay", scene.write("bare.json", recorded.document.dump())});
  CHECK(bare.status.code == 2);
  CHECK(bare.errors.find("without a record") != std::string::npos);
  CHECK(run({"replay", scene.write("broken.json", "{")}).status.code == 2);
  CHECK(run({"replay", "/nonexistent/verdict.json"}).status.code == 2);
  const CapturedRun elsewhere = run({"replay", recorded.path, "--device", "cuda:99", "--json"});
  CHECK(elsewhere.status.code == 2);
  CHECK(json::parse(elsewhere.output)["error"]["message"].get<std::string>().find("cuda:99") !=
        std::string::npos);
}

TEST_CASE("on the CPU backend there is nothing to time, and outcomes are compared") {
  if (!fs::exists(kCpuWorker)) {
    MESSAGE("skipped: the CPU backend was not built");
    return;
  }
  const Scene scene("", kCpuWorker);
  const std::string task = scene.write("task.json", model::to_json(square_task(4096)).dump());
  const std::string plan = scene.write(
      "plan.json",
      model::to_json(square_candidate("  if (i < n) y[i] = x[i] * x[i] + 0.f;")).dump());
  const CapturedRun verified =
      run({"verify", task, plan, "--device", "cpu", "--deep", "--profile", "--json"});
  REQUIRE_MESSAGE(verified.status.code == 0, verified.errors);
  CHECK(verified.output.find("not run: the tools examine GPUs") != std::string::npos);
  const std::string verdict = scene.write("verdict.json", verified.output);
  const CapturedRun told = run({"replay", verdict});
  INFO(told.output << told.errors);
  CHECK(told.status.code == 0);
  CHECK(told.output.starts_with("SAME OUTCOME\n"));
  CHECK(told.output.find("nothing to time: this run is of the CPU backend") != std::string::npos);
  json document = json::parse(verified.output);
  document["outcome"] = "crash";
  CHECK(run({"replay", scene.write("other.json", document.dump())}).status.code == 1);
}

TEST_CASE("the interval of a ratio of ratios adds the errors of both, and the margin decides") {
  using deep::Change;
  const auto same = deep::compare({2, 1.99, 2.01}, {2.002, 1.992, 2.012}, false);
  REQUIRE(same.has_value());
  CHECK(same->change == Change::Same);
  CHECK(same->equivalent);
  // Both errors are 0.5%, so theirs together is 0.5% * sqrt(2).
  CHECK(same->ratio.high / same->ratio.value == doctest::Approx(1.00709).epsilon(1e-4));
  const auto wide = deep::compare({2, 1.8, 2.2}, {2.1, 1.9, 2.3}, false);
  CHECK(wide->change == Change::Same);
  CHECK(!wide->equivalent);
  CHECK(deep::compare({2, 1.99, 2.01}, {2.06, 2.05, 2.07}, false)->change == Change::Faster);
  // Above 1 beyond doubt, but not beyond the margin.
  CHECK(deep::compare({2, 1.999, 2.001}, {2.018, 2.017, 2.019}, false)->change == Change::Same);
  const auto times = deep::compare({100, 99, 101}, {110, 109, 111}, true);
  CHECK(times->change == Change::Slower);
  CHECK(times->ratio.value == doctest::Approx(100.0 / 110));
  CHECK(!deep::compare({2, 0, 3}, {2, 1, 3}, false).has_value());
}

/// Through the service, on a fake device that says it is a GPU.
struct Asked {
  std::unique_ptr<BlockingClient> client;
  Asked() {
    auto connected = BlockingClient::connect("");
    REQUIRE_MESSAGE(connected.has_value(), (connected ? "" : describe(connected.error())));
    client = std::move(*connected);
  }
  Result<model::Verdict> ask(bool deep, std::stop_token stop = {}, int timeout_ms = 60'000,
                             const Client::StageCallback &on_stage = {}) {
    Task task = square_task(4096);
    task.reference = plan_of("reference", "square", {"x", "y"});
    VerifyOptions options;
    options.device = "cpu";
    options.deep = deep;
    options.timeout = std::chrono::milliseconds(timeout_ms);
    options.measure_budget = 100ms;
    return client->verify(task, plan_of("candidate", "square", {"x", "y"}), options, stop,
                          on_stage);
  }
};

std::string detail_of(const model::Verdict &verdict, const std::string &check) {
  for (const model::Check &one : verdict.checks)
    if (one.name == check)
      return one.detail;
  return "there is no such check";
}

TEST_CASE("a deep check through the service turns a verified race into a wrong result") {
  Scene scene("gpu");
  scene.write("memcheck", samples::kCleanMemcheck);
  scene.write("initcheck", samples::kCleanMemcheck);
  scene.write("synccheck", samples::kCleanMemcheck);
  scene.write("racecheck", samples::kRace);
  scene.write("clean", samples::kCleanRacecheck);
  scene.set("WARPWRIGHT_COMPUTE_SANITIZER",
            scene.script("compute-sanitizer",
                         "case \"$*\" in *reference.json*) cat clean;; *) cat $2;; esac\n"));
  Asked asked;
  std::vector<std::string> stages;
  const auto verdict =
      asked.ask(true, {}, 60'000, [&](const std::string &stage) { stages.push_back(stage); });
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  CHECK(verdict->outcome == Outcome::WrongResult);
  CHECK(verdict->message.starts_with("racecheck: "));
  CHECK(!verdict->speedup.has_value());
  CHECK(detail_of(*verdict, "memcheck") == "at n=7; at n=4096");
  REQUIRE(verdict->record.has_value());
  CHECK(verdict->record->options.deep);
  CHECK(verdict->record->options.seed != 0);
  CHECK(std::find(stages.begin(), stages.end(), "examining") != stages.end());
  const auto plain = asked.ask(false);
  REQUIRE(plain.has_value());
  CHECK(plain->outcome == Outcome::Verified);
  CHECK(detail_of(*plain, "memcheck") == "there is no such check");
}

TEST_CASE("tools get neither the runner's variables nor its folder") {
  Scene scene("gpu");
  scene.write("clean", samples::kCleanMemcheck);
  scene.set("WARPWRIGHT_RUNNER_TOKEN", "a-token-of-this-runner");
  scene.set("AWS_SECRET_ACCESS_KEY", "a-secret-of-this-user");
  std::ofstream(scene.folder / "compute-sanitizer")
      << "#!/bin/sh\npwd > " << scene.folder.string() << "/where\nenv > " << scene.folder.string()
      << "/variables\ncat " << scene.folder.string() << "/clean\n";
  fs::permissions(scene.folder / "compute-sanitizer", fs::perms::owner_all);
  scene.set("WARPWRIGHT_COMPUTE_SANITIZER", (scene.folder / "compute-sanitizer").string());
  const auto verdict = Asked().ask(true);
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  std::string where, home;
  std::ifstream(scene.folder / "where") >> where;
  std::ifstream variables(scene.folder / "variables");
  for (std::string line; std::getline(variables, line);) {
    CHECK_MESSAGE(line.find("a-token") == std::string::npos, line);
    CHECK_MESSAGE(line.find("a-secret") == std::string::npos, line);
    if (line.starts_with("HOME="))
      home = line.substr(5);
  }
  CHECK(where == home);
  CHECK(where.find("warpwright-") != std::string::npos);
  CHECK(!fs::exists(where)); // it went with the examination
}

TEST_CASE("no job runs on a device while tools examine it") {
  Scene scene("gpu");
  scene.write("clean", samples::kCleanMemcheck);
  scene.set("WARPWRIGHT_COMPUTE_SANITIZER",
            scene.script("compute-sanitizer", "cat clean\necho $2 >> ended\n"
                                              "while [ ! -f go ]; do sleep 0.02; done\n"));
  Asked asked;
  std::promise<void> examining, queued;
  auto first = std::async(std::launch::async, [&] {
    return asked.ask(true, {}, 60'000, [&, told = false](const std::string &stage) mutable {
      if (stage == "examining" && !std::exchange(told, true))
        examining.set_value();
    });
  });
  examining.get_future().wait();
  std::string ended_when_it_ran;
  auto second = std::async(std::launch::async, [&] {
    return asked.ask(false, {}, 60'000, [&, told = false](const std::string &stage) mutable {
      if (stage == "queued" && !std::exchange(told, true))
        queued.set_value();
      if (stage == "verifying" && ended_when_it_ran.empty()) {
        std::ifstream ended(scene.folder / "ended");
        ended_when_it_ran.assign(std::istreambuf_iterator<char>(ended), {});
      }
    });
  });
  queued.get_future().wait();
  scene.write("go", "");
  CHECK(second.get().has_value());
  CHECK(first.get().has_value());
  CHECK(ended_when_it_ran == "memcheck\nracecheck\ninitcheck\nsynccheck\n");
}

TEST_CASE("verify prints the counters of both sides and what bounds them") {
  Scene scene("gpu");
  scene.write("profile", samples::kProfile);
  scene.set("WARPWRIGHT_NCU", scene.script("ncu", "cat profile\n"));
  Task task = square_task(4096);
  task.reference = plan_of("reference", "square", {"x", "y"});
  const CapturedRun told = run(
      {"verify", scene.write("task.json", model::to_json(task).dump()),
       scene.write("plan.json", model::to_json(plan_of("candidate", "square", {"x", "y"})).dump()),
       "--device", "cpu", "--profile"});
  INFO(told.output << told.errors);
  CHECK(told.status.code == 0);
  CHECK(told.output.find("counters by ncu at n=4096, reference | candidate") != std::string::npos);
  CHECK(told.output.find(" 68 | 68") != std::string::npos);
  CHECK(told.output.find("the candidate is bound by memory") != std::string::npos);
}

TEST_CASE("cancelling while tools run ends them, and the next job runs") {
  Scene scene("gpu");
  scene.set("WARPWRIGHT_COMPUTE_SANITIZER",
            scene.script("compute-sanitizer", "echo $$ > pid\nexec sleep 1000\n"));
  Asked asked;
  std::stop_source stop;
  auto running = std::async(std::launch::async, [&] { return asked.ask(true, stop.get_token()); });
  const auto limit = std::chrono::steady_clock::now() + 60s;
  pid_t tool = 0;
  while (tool == 0 && std::chrono::steady_clock::now() < limit) {
    std::ifstream(scene.folder / "pid") >> tool;
    std::this_thread::yield();
  }
  REQUIRE(tool > 0);
  stop.request_stop();
  const auto ended = running.get();
  REQUIRE(!ended.has_value());
  CHECK(ended.error().message == "the job was cancelled");
  CHECK(kill(tool, 0) != 0); // it was waited for before the answer
  const auto next = asked.ask(false);
  REQUIRE(next.has_value());
  CHECK(next->outcome == Outcome::Verified);
}

TEST_CASE("tools that do not end in the job's time cost their checks only") {
  Scene scene("gpu");
  scene.set("WARPWRIGHT_COMPUTE_SANITIZER", scene.script("compute-sanitizer", "exec sleep 1000\n"));
  Asked asked;
  const auto verdict = asked.ask(true, {}, 3'000);
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  CHECK(verdict->outcome == Outcome::Verified);
  CHECK(verdict->speedup.has_value());
  CHECK(detail_of(*verdict, "memcheck").find("did not end within the job's time") !=
        std::string::npos);
}

TEST_CASE("an examiner that dies leaves the worker's verdict") {
  Scene scene("gpu");
  // The tool takes its parent, the examining process, down.
  scene.set("WARPWRIGHT_COMPUTE_SANITIZER",
            scene.script("compute-sanitizer", "kill -9 $PPID\nexec sleep 1000\n"));
  Asked asked;
  const auto verdict = asked.ask(true);
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  CHECK(verdict->outcome == Outcome::Verified);
  CHECK(detail_of(*verdict, "memcheck").starts_with("not run: "));
  const auto next = asked.ask(false);
  REQUIRE(next.has_value());
  CHECK(next->outcome == Outcome::Verified);
}

TEST_CASE("launch without a GPU says why it failed") {
  const Scene scene("");
  const std::string task = scene.write("task.json", model::to_json(square_task(4096)).dump());
  const std::string plan =
      scene.write("plan.json", model::to_json(square_task(4096).reference).dump());
  const CapturedRun bad_size = run({"launch", task, plan, "--device", "cuda:0", "--size", "m=3"});
  CHECK(bad_size.status.code == 3);
  CHECK(bad_size.output.find("launch: failed: --size m=3 is not understood") != std::string::npos);
  const CapturedRun released =
      run({"launch", task, plan, "--device", "cuda:0", "--leash", "/nonexistent/leash"});
  CHECK(released.status.code >= 3);
}

} // namespace
} // namespace warpwright::runner
