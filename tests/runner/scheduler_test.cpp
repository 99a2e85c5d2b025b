// The scheduler with real worker processes on fake devices: choice of devices, turns of clients,
// workers that die without their job's fault, and compiling ahead with the real NVRTC.
#include "runner/cuda/compiler.h"
#include "runner/service/lost_worker.h"
#include "runner/service/scheduler.h"
#include "tests/runner/tasks.h"

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;
namespace fs = std::filesystem;

const std::string kFakeWorker = WARPWRIGHT_TEST_DIR "/runner_fake_worker";
const std::string kRunner = WARPWRIGHT_BINARY_DIR "/warpwright-runner";

FoundDevice device(const std::string &name, const std::string &gpu = "",
                   const std::string &mode = "") {
  FoundDevice found;
  found.name = name;
  found.info.kind = gpu.empty() ? "cpu" : "cuda";
  found.info.name = gpu.empty() ? "CPU" : gpu;
  if (!gpu.empty())
    found.info.compute_capability = "9.0";
  found.worker = {
      .name = name, .command = {kFakeWorker}, .environment = {"WARPWRIGHT_FAKE_WORKER=" + mode}};
  return found;
}

/// The file that "hang_flagged" looks for.
struct Flag {
  std::string path = "/tmp/warpwright-flag-" + std::to_string(getpid());
  Flag() {
    setenv("WARPWRIGHT_FAKE_FLAG", path.c_str(), 1);
    std::ofstream(path) << "hang";
  }
  ~Flag() {
    unsetenv("WARPWRIGHT_FAKE_FLAG");
    fs::remove(path);
  }
};

struct Told final : Observer {
  std::map<CompiledAhead, int> ahead;
  std::map<std::string, int> starts;
  void compiled_ahead(CompiledAhead result) override { ++ahead[result]; }
  void worker_started(const std::string &device, bool) override { ++starts[device]; }
};

/// A scheduler, its loop, and the answers of its jobs in the order of their coming.
struct Bench {
  using MakePool = std::function<std::unique_ptr<CompileAhead>(boost::asio::any_io_executor)>;
  explicit Bench(std::vector<FoundDevice> devices, const MakePool &pool = {})
      : scheduler(loop.get_executor(), {std::move(devices), {}},
                  pool ? pool(loop.get_executor()) : nullptr, &told) {}
  ~Bench() { scheduler.stop(); }

  Result<std::int64_t> add(const std::string &kernel, const std::string &selector,
                           const std::string &client = "a",
                           std::function<void(const std::string &)> on_activity = {}) {
    Task task = square_task(4096);
    task.reference = plan_of("reference", reference, {"x", "y"});
    return add(task, plan_of("candidate", kernel, {"x", "y"}), selector, client, on_activity);
  }
  Result<std::int64_t> add(const Task &task, const Plan &plan, const std::string &selector,
                           const std::string &client,
                           std::function<void(const std::string &)> on_activity) {
    QueuedJob job;
    const std::int64_t id = job.id = ++last;
    job.client = client;
    job.task_hash = task_hash;
    job.options.device = selector;
    job.options.timeout = std::chrono::milliseconds(60'000);
    job.options.measure_budget = std::chrono::milliseconds(50);
    job.options.best_known_speedup = best_known;
    job.options.hidden_sizes = hidden_sizes;
    job.request = {{"task", model::to_json(task)},
                   {"plan", model::to_json(plan)},
                   {"options", model::to_json(job.options)}};
    job.on_stage = [on_activity](const std::string &, const std::string &activity) {
      if (on_activity)
        on_activity(activity);
    };
    job.done = [this, id](const rpc::Outcome &outcome) {
      order.push_back(id);
      if (outcome) {
        auto verdict = model::verdict_from_json(*outcome);
        REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
        verdicts.emplace(id, std::move(*verdict));
      } else {
        errors[id] = outcome.error().message;
      }
    };
    if (auto taken = scheduler.submit(std::move(job)); !taken)
      return std::unexpected(taken.error());
    return id;
  }
  void run_until(const std::function<bool()> &over) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!over() && std::chrono::steady_clock::now() < end)
      loop.run_one_for(std::chrono::seconds(1));
    REQUIRE(over());
  }
  void run_all() {
    run_until([&] { return order.size() == static_cast<std::size_t>(last); });
  }

  boost::asio::io_context loop;
  Told told;
  std::string reference = "square", task_hash;
  std::optional<double> best_known;
  bool hidden_sizes = false;
  std::int64_t last = 0;
  std::vector<std::int64_t> order;
  std::map<std::int64_t, model::Verdict> verdicts;
  std::map<std::int64_t, std::string> errors;
  Scheduler scheduler;
};

TEST_CASE(
    "a device is chosen by name, by kind, by a part of the GPU's name, or as the best there is") {
  Bench bench(
      {device("cuda:0", "NVIDIA H200"), device("cuda:1", "NVIDIA A100-SXM4"), device("cpu")});
  for (const auto &[selector, chosen] : {std::pair{"cuda:1", "cuda:1"}, std::pair{"h200", "cuda:0"},
                                         std::pair{"A100", "cuda:1"}, std::pair{"cpu", "cpu"}}) {
    CAPTURE(selector);
    bench.told.starts.clear();
    Bench fresh(
        {device("cuda:0", "NVIDIA H200"), device("cuda:1", "NVIDIA A100-SXM4"), device("cpu")});
    REQUIRE(fresh.add("square", selector).has_value());
    fresh.run_all();
    CHECK(fresh.told.starts == std::map<std::string, int>{{chosen, 1}});
  }
  const auto unknown = bench.add("square", "B200");
  REQUIRE(!unknown.has_value());
  CHECK(describe(unknown.error()).find("cuda:1 (NVIDIA A100-SXM4)") != std::string::npos);
  bench.last = 0;
  for (int i = 0; i < 4; ++i)
    REQUIRE(bench.add("square", "").has_value());
  bench.run_all();
  CHECK(bench.told.starts == std::map<std::string, int>{{"cuda:0", 1}, {"cuda:1", 1}});
}

TEST_CASE("two devices of a kind work at the same time, and each on one job at a time") {
  Bench bench({device("cuda:0", "NVIDIA H200"), device("cuda:1", "NVIDIA H200")});
  int running = 0;
  std::vector<std::int64_t> hanging;
  for (int i = 0; i < 3; ++i)
    hanging.push_back(*bench.add("hang", "H200", "a", [&](const std::string &activity) {
      running += activity.starts_with("running the candidate");
    }));
  bench.run_until([&] { return running == 2; });
  CHECK(bench.scheduler.waiting() == 1);
  for (const std::int64_t id : hanging)
    bench.scheduler.cancel(id);
  bench.run_all();
  CHECK(bench.errors.size() == 3);
  CHECK(bench.errors.begin()->second == "the job was cancelled");
}

TEST_CASE("workers that share a GPU both get jobs, and never use it at once") {
  FoundDevices found{{device("cuda:0", "NVIDIA H200"), device("cpu")}, {}};
  share_gpus(found, 2);
  Bench bench(std::move(found.devices));
  std::vector<std::int64_t> seen; // jobs, as their stages come
  for (int i = 1; i <= 12; ++i)
    REQUIRE(bench.add("square", "cuda:0", "a", [&seen, i](const std::string &activity) {
      if (activity.starts_with("running") && (seen.empty() || seen.back() != i))
        seen.push_back(i);
    }));
  bench.run_all();
  CHECK(bench.told.starts == std::map<std::string, int>{{"cuda:0", 2}});
  CHECK(seen.size() == 12); // none came back to after another had begun
  for (const auto &[id, verdict] : bench.verdicts)
    CHECK(verdict.outcome == Outcome::Verified);
  CHECK(bench.scheduler.describe()["names"] == rpc::Json::array({"cuda:0", "cpu"}));
}

TEST_CASE("a task's jobs stay with the worker that has it loaded, where several share a GPU") {
  FoundDevices found{{device("cuda:0", "NVIDIA H200")}, {}};
  share_gpus(found, 2);
  Bench bench(std::move(found.devices));
  bool running = false;
  const auto add = [&](const char *task, const char *kernel) {
    bench.task_hash = task;
    return *bench.add(kernel, "", "a", [&](const std::string &activity) {
      running |= activity.starts_with("running the candidate");
    });
  };
  const auto hanging = add("one", "hang"), same = add("one", "square"),
             other = add("other", "square");
  bench.run_until([&] { return running; });
  bench.scheduler.cancel(hanging);
  bench.run_all();
  // The second worker took the other task's job, not the one that came before it.
  CHECK(bench.order == std::vector<std::int64_t>{hanging, other, same});
}

TEST_CASE("a job whose memory does not suffice beside others runs again alone, once") {
  FoundDevices found{{device("cuda:0", "NVIDIA H200", "hungry")}, {}};
  share_gpus(found, 3);
  Bench bench(std::move(found.devices));
  std::map<int, int> waited;
  for (int i = 1; i <= 6; ++i)
    REQUIRE(bench.add("square", "", "a", [&waited, i](const std::string &activity) {
      waited[i] += activity == "waiting for the device's memory";
    }));
  bench.run_all();
  for (const auto &[id, verdict] : bench.verdicts)
    CHECK(verdict.outcome == Outcome::Verified);
  for (const auto &[id, times] : waited)
    CHECK(times == 1);
  Bench unshared({device("cuda:0", "NVIDIA H200", "hungry")});
  bool again = false;
  REQUIRE(unshared.add("square", "", "a", [&](const std::string &activity) {
    again |= activity == "waiting for the device's memory";
  }));
  unshared.run_all();
  CHECK_FALSE(again); // there is nobody to make room
}

TEST_CASE("a worker that ends gives its turn to the next") {
  FoundDevices found{{device("cuda:0", "NVIDIA H200")}, {}};
  share_gpus(found, 2);
  Bench bench(std::move(found.devices));
  const auto lost = bench.add("exit", "");
  const auto other = bench.add("square", "");
  bench.run_all();
  CHECK(bench.verdicts.at(*lost).outcome == Outcome::Crash);
  CHECK(bench.verdicts.at(*other).outcome == Outcome::Verified);
}

TEST_CASE("a client with many jobs does not keep another's from running") {
  Bench bench({device("cpu")});
  for (int i = 0; i < 20; ++i)
    REQUIRE(bench.add("square", "", "many").has_value());
  const auto few = bench.add("square", "", "few"), fewer = bench.add("square", "", "few");
  bench.run_all();
  const auto place = [&](std::int64_t id) {
    return std::ranges::find(bench.order, id) - bench.order.begin();
  };
  CHECK(place(*few) <= 2);
  CHECK(place(*fewer) <= 4);
  for (std::int64_t id = 1; id < 20; ++id) // a client's own jobs stay in order
    CHECK(place(id) < place(id + 1));
}

TEST_CASE("a device whose worker does not start leaves its jobs to the others") {
  Bench bench({device("cuda:0", "NVIDIA H200", "broken"), device("cuda:1", "NVIDIA H200")});
  for (int i = 0; i < 3; ++i)
    REQUIRE(bench.add("square", "cuda").has_value());
  const auto only = bench.add("square", "cuda:0");
  bench.run_all();
  for (std::int64_t id = 1; id <= 3; ++id)
    CHECK(bench.verdicts.at(id).outcome == Outcome::Verified);
  if (only)
    CHECK(bench.errors.at(*only).find("the fake device is broken") != std::string::npos);
}

/// A task that a worker with torch is wanted for; what the fake one says of it does not matter.
Task torch_task() {
  Task task = square_task(4096);
  task.module = model::TorchModule{.source = "class Model: pass"};
  return task;
}

TEST_CASE(
    "torch tasks go to a Python worker of the GPU, which stays until another kind is wanted") {
  FoundDevice gpu = device("cuda:0", "NVIDIA H200");
  gpu.worker.python = PythonStart{{kFakeWorker}, {}};
  Bench bench({gpu});
  const Plan plan = plan_of("candidate", "square", {"x", "y"});
  std::vector<std::optional<pid_t>> pids;
  for (const bool torch : {false, true, true, false}) {
    REQUIRE(bench.add(torch ? torch_task() : square_task(4096), plan, "", "a", {}).has_value());
    bench.run_all();
    pids.push_back(bench.scheduler.find("cuda:0")->pid());
  }
  CHECK(pids[0] != pids[1]);
  CHECK(pids[1] == pids[2]);
  CHECK(pids[2] != pids[3]);
  CHECK(bench.told.starts == std::map<std::string, int>{{"cuda:0", 3}});
}

TEST_CASE("an interpreter that does not start is named, and costs torch tasks alone") {
  FoundDevice gpu = device("cuda:0", "NVIDIA H200");
  gpu.worker.python = PythonStart{{"/no/such/python", "host.py"}, {}};
  Bench bench({gpu});
  const Plan plan = plan_of("candidate", "square", {"x", "y"});
  const auto torch = bench.add(torch_task(), plan, "", "a", {});
  const auto plain = bench.add("square", "");
  REQUIRE((torch && plain));
  bench.run_all();
  CHECK(bench.errors[*torch].find("/no/such/python") != std::string::npos);
  CHECK(bench.errors[*torch].find("WARPWRIGHT_PYTHON") != std::string::npos);
  CHECK(bench.verdicts.at(*plain).outcome == Outcome::Verified);
}

TEST_CASE("a worker killed from outside costs a second run, not the candidate") {
  Bench bench({device("cpu")});
  std::vector<pid_t> killed;
  const auto kill_it = [&](int times) {
    return [&, times](const std::string &activity) {
      const auto pid = bench.scheduler.find("cpu")->pid();
      if (!activity.starts_with("running the candidate") || !pid ||
          killed.size() >= static_cast<std::size_t>(times) ||
          std::ranges::find(killed, *pid) != killed.end())
        return;
      kill(*pid, SIGKILL);
      killed.push_back(*pid);
      fs::remove(Flag().path);
    };
  };
  const Flag flag;
  const auto once = bench.add("hang_flagged", "", "a", kill_it(1));
  bench.run_all();
  const model::Verdict &verdict = bench.verdicts.at(*once);
  CHECK(killed.size() == 1);
  CHECK(verdict.outcome == Outcome::Verified);
  CHECK(verdict.checks.back().name == "ran again");
  CHECK(verdict.checks.back().detail.find("killed from outside") != std::string::npos);
  killed.clear();
  const auto twice = bench.add("hang", "", "a", kill_it(2));
  bench.run_all();
  CHECK(killed.size() == 2);
  CHECK(bench.verdicts.at(*twice).outcome == Outcome::Crash);
  CHECK(bench.verdicts.at(*twice).message.find("signal 9 (Killed)") != std::string::npos);
  REQUIRE(bench.add("square", "").has_value());
  bench.run_all();
  CHECK(bench.verdicts.at(bench.last).outcome == Outcome::Verified);
}

TEST_CASE("a reference that ends its worker at hidden sizes is tried again without them") {
  Bench bench({device("cpu")});
  bench.reference = "crash_elsewhere";
  bench.hidden_sizes = true;
  const auto id = bench.add("square", "");
  bench.run_all();
  const model::Verdict &verdict = bench.verdicts.at(*id);
  INFO(verdict.message);
  CHECK(verdict.outcome == Outcome::Verified);
  CHECK(verdict.checks.back().name == "ran again");
  CHECK(verdict.checks.back().detail.find("without hidden sizes: the reference: ended") !=
        std::string::npos);
}

TEST_CASE("a candidate that makes a system call of its own is a suspected cheat, and ends there") {
  Bench open({device("cpu")}), held({device("cpu", "", "isolated")});
  const auto there = open.add("open_socket", ""), here = held.add("open_socket", "");
  open.run_all();
  CHECK(open.verdicts.at(*there).outcome == Outcome::Verified); // it computes what it should
  held.run_all();
  const model::Verdict &verdict = held.verdicts.at(*here);
  CHECK(verdict.outcome == Outcome::SuspectedCheat);
  CHECK(verdict.message.find("system call that a worker may not make, signal 31") !=
        std::string::npos);
  REQUIRE(held.add("square", "").has_value());
  held.run_all();
  CHECK(held.verdicts.at(held.last).outcome == Outcome::Verified);
  const auto layers = held.scheduler.describe()["isolation"][0]["layers"];
  CHECK(std::ranges::any_of(layers, [](const auto &layer) {
    return layer["name"] == "system calls" && layer["active"] == true;
  }));
}

TEST_CASE("jobs of the task that a worker has ready go first among a client's") {
  Bench bench({device("cpu")});
  for (const char *task : {"one", "other", "one", "other", "one"}) {
    bench.task_hash = task;
    REQUIRE(bench.add("square", "").has_value());
  }
  REQUIRE(bench.add("square", "", "another client").has_value());
  bench.run_all();
  // Clients still take turns.
  CHECK(bench.order == std::vector<std::int64_t>{1, 3, 6, 5, 2, 4});
}

TEST_CASE("a speedup over twice the best known is measured again in a fresh worker") {
  FoundDevice measuring = device("cpu", "", "measure");
  measuring.worker.large_speedup = 100;
  Bench bench({measuring});
  const auto measured_again = [&](std::optional<double> best_known) {
    bench.best_known = best_known;
    const auto id = bench.add("fast_square", ""); // ten times as fast
    bench.run_all();
    const auto &checks = bench.verdicts.at(*id).checks;
    return std::ranges::any_of(checks, [](const model::Check &check) {
      return check.name == "measured again in a fresh worker";
    });
  };
  CHECK_FALSE(measured_again(std::nullopt));
  CHECK_FALSE(measured_again(8.0));
  CHECK(measured_again(4.0));
}

TEST_CASE("what a lost worker says about its job") {
  LostWorker lost;
  lost.side = "candidate";
  lost.activity = "running the candidate at n=7";
  lost.status = {0, SIGSEGV};
  CHECK(verdict_of(lost).outcome == Outcome::Crash);
  CHECK_FALSE(was_killed_from_outside(lost));
  lost.status = {0, SIGSYS};
  CHECK(verdict_of(lost).outcome == Outcome::SuspectedCheat);
  CHECK(verdict_of(lost).message.find("system call") != std::string::npos);
  lost.status = {0, SIGKILL};
  CHECK(was_killed_from_outside(lost));
  lost.ended = Ended::TimedOut;
  CHECK_FALSE(was_killed_from_outside(lost));
  CHECK(verdict_of(lost).outcome == Outcome::Timeout);
  lost.side = "reference";
  CHECK(verdict_of(lost).outcome == Outcome::Unsupported);
  CHECK_FALSE(failed_at_hidden_sizes(lost));
  lost.activity = "running the reference at hidden sizes n=13";
  CHECK(failed_at_hidden_sizes(lost));
  lost.ended = Ended::Cancelled;
  CHECK_FALSE(failed_at_hidden_sizes(lost));
}

TEST_CASE("there is a compile process for each core that no device needs, within limits") {
  CHECK(compile_processes(16, 1) == 15);
  CHECK(compile_processes(128, 8) == 16);
  CHECK(compile_processes(2, 4) == 1);
}

// ---- Compiling ahead, with NVRTC

struct Cache {
  fs::path path;
  Cache() {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~Cache() { fs::remove_all(path); }
  std::size_t entries() const {
    std::size_t count = 0;
    for (const auto &entry : fs::recursive_directory_iterator(path))
      count += entry.path().extension() == ".cubin";
    return count;
  }
};

bool has_nvrtc() {
  if (const auto compiler = cuda::Compiler::make({}); !compiler) {
    MESSAGE("skipped: " << describe(compiler.error()));
    return false;
  }
  return true;
}

/// A bench with a GPU's name and real compile processes.
struct CompilingBench : Bench {
  explicit CompilingBench(const Cache &cache,
                          const std::vector<std::string> &command = {kRunner, "compile-worker"})
      : Bench({device("cuda:0", "NVIDIA H200")}, [&](boost::asio::any_io_executor executor) {
          return std::make_unique<CompileAhead>(
              executor,
              CompileAheadSettings{.command = command,
                                   .environment = {"XDG_CACHE_HOME=" + cache.path.string()},
                                   .processes = 2});
        }) {}
  std::int64_t add_source(const std::string &body) {
    return *add(square_task(4096), square_candidate(body), "cuda", "a", {});
  }
};

TEST_CASE("queued candidates are compiled into the cache before the GPU takes them") {
  if (!has_nvrtc())
    return;
  const Cache cache;
  CompilingBench bench(cache);
  const auto id = bench.add_source("  if (i < n) y[i] = x[i] * x[i] * 1;");
  bench.run_all();
  CHECK(bench.verdicts.at(id).outcome == Outcome::Verified); // by the fake, which reads no source
  CHECK(cache.entries() == 2);                               // the candidate's and the reference's
  CHECK(bench.told.ahead == std::map<CompiledAhead, int>{{CompiledAhead::Hit, 1}});
  // While the device is busy, all that wait are compiled.
  bool hangs = false;
  const auto hanging =
      bench.add(square_task(4096),
                plan_of("extern \"C\" __global__ void hang(const float *, float *, int) {}", "hang",
                        {"x", "y"}),
                "cuda", "a", [&](const std::string &activity) {
                  hangs |= activity.starts_with("running the candidate");
                });
  bench.run_until([&] { return hangs; });
  for (int i = 0; i < 4; ++i)
    bench.add_source("  if (i < n) y[i] = x[i] * x[i] + " + std::to_string(i) + ";");
  bench.run_until([&] { return cache.entries() == 7; });
  CHECK(bench.scheduler.waiting() == 4);
  bench.scheduler.cancel(*hanging);
  bench.run_all();
  CHECK(bench.told.ahead == std::map<CompiledAhead, int>{{CompiledAhead::Hit, 6}});
}

TEST_CASE("a candidate that does not compile is refused before the GPU sees it, in the compiler's "
          "words") {
  if (!has_nvrtc())
    return;
  const Cache cache;
  CompilingBench bench(cache);
  bench.add_source("  if (i < n) y[i] = x[i] * x[i];");
  bench.run_all();
  const auto id = bench.add_source("  if (i < n) y[i] = nothing;");
  bench.run_all();
  const model::Verdict &verdict = bench.verdicts.at(id);
  CHECK(verdict.outcome == Outcome::CompileFailed);
  CHECK(verdict.message.find("identifier \"nothing\" is undefined") != std::string::npos);
  CHECK(verdict.device.name == "Fake"); // as the device's worker describes it
  CHECK(verdict.task_hash.size() == 64);
  REQUIRE(!verdict.kernels.empty());
  CHECK(verdict.kernels[0].log.find("nothing") != std::string::npos);
  CHECK(bench.told.ahead[CompiledAhead::Refused] == 1);
  CHECK(bench.told.starts["cuda:0"] == 1);
}

TEST_CASE("a compile process that is lost costs the prefetch and nothing else") {
  const Cache cache;
  CompilingBench bench(cache, {"/bin/false"});
  const auto id = bench.add_source("  if (i < n) y[i] = x[i] * x[i];");
  bench.run_all();
  CHECK(bench.verdicts.at(id).outcome == Outcome::Verified);
  CHECK(bench.told.ahead ==
        std::map<CompiledAhead, int>{{CompiledAhead::Lost, 1}, {CompiledAhead::Miss, 1}});
}

} // namespace
} // namespace warpwright::runner
