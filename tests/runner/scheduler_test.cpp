// The scheduler with real worker processes on fake devices: choice of devices, turns of clients,
// and workers that die without their job's fault.
#include "runner/worker/lost_worker.h"
#include "tests/runner/scheduler_fixture.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using namespace testing;
namespace fs = std::filesystem;

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
  const auto hanging = add("one", "hang"), same = add("one", "square");
  CHECK(bench.scheduler.waiting() == 1); // though the second worker is free
  const auto other = add("other", "square");
  CHECK(bench.scheduler.waiting() == 1);
  bench.run_until([&] { return running; });
  bench.scheduler.cancel(hanging);
  bench.run_all();
  CHECK(bench.errors.size() == 1);
  CHECK(bench.verdicts.at(same).outcome == Outcome::Verified);
  CHECK(bench.verdicts.at(other).outcome == Outcome::Verified);
}

TEST_CASE("a job that memory left incomplete beside others runs again alone, once; a whole verdict "
          "stands") {
  for (const bool incomplete : {true, false}) {
    CAPTURE(incomplete);
    FoundDevices found{{device("cuda:0", "NVIDIA H200", "hungry")}, {}};
    share_gpus(found, 3);
    Bench bench(std::move(found.devices));
    std::map<int, int> waited;
    for (int i = 1; i <= 6; ++i)
      REQUIRE(bench.add(incomplete ? "inexact" : "square", "", "a",
                        [&waited, i](const std::string &activity) {
                          waited[i] += activity == "waiting for the device's memory";
                        }));
    bench.run_all();
    for (const auto &[id, verdict] : bench.verdicts)
      CHECK(verdict.outcome == (incomplete ? Outcome::WrongResult : Outcome::Verified));
    for (const auto &[id, times] : waited)
      CHECK(times == (incomplete ? 1 : 0));
  }
  Bench unshared({device("cuda:0", "NVIDIA H200", "hungry")});
  bool again = false;
  REQUIRE(unshared.add("inexact", "", "a", [&](const std::string &activity) {
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
  gpu.worker.python = std::vector<std::string>{kFakeWorker};
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

TEST_CASE("a worker with torch and one without do not take turns while jobs of both kinds wait") {
  FoundDevice gpu = device("cuda:0", "NVIDIA H200");
  gpu.worker.python = std::vector<std::string>{kFakeWorker};
  const Plan plan = plan_of("candidate", "square", {"x", "y"});
  SUBCASE("one worker does those of its kind first") {
    Bench bench({gpu});
    std::vector<std::int64_t> kernels, modules;
    for (int i = 0; i < 4; ++i) {
      kernels.push_back(*bench.add(square_task(4096), plan, "", "a", {}));
      modules.push_back(*bench.add(torch_task(), plan, "", "b", {}));
    }
    bench.run_all();
    std::vector<std::int64_t> expected = kernels;
    expected.insert(expected.end(), modules.begin(), modules.end());
    CHECK(bench.order == expected);
    CHECK(bench.told.starts == std::map<std::string, int>{{"cuda:0", 2}});
  }
  SUBCASE("of two, each keeps its kind") {
    FoundDevices found{{gpu}, {}};
    share_gpus(found, 2);
    Bench bench(std::move(found.devices));
    const auto round = [&] {
      for (int i = 0; i < 4; ++i) {
        REQUIRE(bench.add(square_task(4096), plan, "", "a", {}).has_value());
        REQUIRE(bench.add(torch_task(), plan, "", "b", {}).has_value());
      }
      bench.run_all();
    };
    round();
    const auto starts = bench.told.starts;
    round();
    round();
    CHECK(bench.told.starts == starts);
    REQUIRE(bench.add(square_task(4096), plan, "", "a", {}).has_value());
    REQUIRE(bench.add(square_task(4096), plan, "", "a", {}).has_value());
    bench.run_all(); // the one with torch leaves both to the other
    CHECK(bench.told.starts == starts);
  }
}

TEST_CASE("while a module is traced, one worker with torch that is not up is started") {
  FoundDevice gpu = device("cuda:0", "NVIDIA H200"), other = device("cuda:1", "NVIDIA H200");
  gpu.worker.python = other.worker.python = std::vector<std::string>{kFakeWorker};
  Bench bench({device("cpu"), gpu, other});
  int traced = 0;
  const auto trace = [&] {
    bench.scheduler.trace(rpc::Json::array({{{"source", "no module at all"}}}),
                          [&](const rpc::Outcome &) { ++traced; });
  };
  trace();
  CHECK(bench.told.starts == std::map<std::string, int>{{"cuda:0", 1}});
  trace();
  CHECK(bench.told.starts == std::map<std::string, int>{{"cuda:0", 1}, {"cuda:1", 1}});
  const auto id =
      bench.add(torch_task(), plan_of("candidate", "square", {"x", "y"}), "cuda:0", "a", {});
  bench.run_until([&] { return traced == 2 && bench.order.size() == 1; });
  CHECK(bench.told.starts["cuda:0"] == 1); // the one that was up took it
}

TEST_CASE("without a program that traces modules, the answer says so") {
  boost::asio::io_context loop;
  Scheduler scheduler(loop.get_executor(), {});
  std::string why;
  scheduler.trace(rpc::Json::array({{{"source", ""}}}), [&](const rpc::Outcome &outcome) {
    why = outcome ? "" : outcome.error().message;
  });
  CHECK(why.find("without a program that traces modules") != std::string::npos);
}

TEST_CASE("an interpreter that does not start is named, and costs torch tasks alone") {
  FoundDevice gpu = device("cuda:0", "NVIDIA H200");
  gpu.worker.python = std::vector<std::string>{"/no/such/python", "host.py"};
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

TEST_CASE("a worker killed while it starts is started again, and costs no job") {
  const Flag flag; // holds a line for each start
  FoundDevice found = device("cpu");
  const auto killed_starts = [&](int count) {
    found.worker.command = {"/bin/sh", "-c",
                            "echo start >> " + flag.path + "; [ $(wc -l < " + flag.path + ") -gt " +
                                std::to_string(count) + " ] || kill -KILL $$; exec " + kFakeWorker};
    std::ofstream(flag.path) << ""; // anew
    return found;
  };
  Bench bench({killed_starts(2)});
  REQUIRE(bench.add("square", "").has_value());
  REQUIRE(bench.add("square", "").has_value());
  bench.run_all();
  CHECK(bench.errors.empty());
  for (const auto &[id, verdict] : bench.verdicts)
    CHECK(verdict.outcome == Outcome::Verified);
  CHECK(bench.told.starts["cpu"] == 3);

  Bench never({killed_starts(1'000'000)});
  const auto hopeless = never.add("square", "");
  never.run_all();
  CHECK(never.errors[*hopeless].find("signal 9") != std::string::npos);
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
  bench.confirmed = 9.5; // ten is as fast, however little was known
  CHECK_FALSE(measured_again(4.0));
  bench.confirmed = 8.0;
  CHECK(measured_again(4.0));
}

TEST_CASE("nothing is measured while others compute on the GPU, and the verdict names them") {
  const auto neighbours = std::make_shared<Neighbours>();
  const auto computing = [&] {
    neighbours->note({{.device = "cuda:0", .name = "H200", .identifier = "GPU-0", .foreign = {"4711 (python3)"}}});
  };
  const auto bench_of = [&](bool allowed) {
    FoundDevice found = device("cuda:0", "H200", "gpu");
    found.worker.neighbours = neighbours;
    found.worker.measures_beside_others = allowed;
    return std::make_unique<Bench>(std::vector{found});
  };
  const auto told = [](const model::Verdict &verdict) {
    return std::ranges::find(verdict.checks, std::string(kAloneCheck), &model::Check::name) !=
           verdict.checks.end();
  };
  const auto bench = bench_of(false);
  REQUIRE(bench->add("square", "").has_value());
  bench->run_all();
  CHECK(bench->verdicts.at(1).outcome == Outcome::Verified);
  CHECK(!told(bench->verdicts.at(1)));

  REQUIRE(bench->add("square", "", "a", [&](const std::string &activity) {
            if (activity == "timing")
              computing();
          }).has_value());
  bench->run_all();
  CHECK(bench->verdicts.at(2).outcome == Outcome::Unsupported);
  CHECK(!bench->verdicts.at(2).speedup);
  CHECK(bench->verdicts.at(2).message.find("4711 (python3)") != std::string::npos);

  std::vector<std::string> activities;
  REQUIRE(bench->add("square", "", "a", [&](const std::string &activity) { activities.push_back(activity); })
              .has_value()); // they computed a moment ago
  bench->run_all();
  CHECK(bench->verdicts.at(3).outcome == Outcome::Unsupported);
  CHECK(std::ranges::find(activities, "timing") == activities.end());

  computing();
  const auto allowing = bench_of(true);
  REQUIRE(allowing->add("square", "", "a", [&](const std::string &activity) {
            if (activity == "timing")
              computing();
          }).has_value());
  allowing->run_all();
  CHECK(allowing->verdicts.at(1).outcome == Outcome::Verified);
  CHECK(told(allowing->verdicts.at(1)));
}

TEST_CASE("who computed before a measurement, or on another GPU, does not disturb it") {
  Neighbours neighbours;
  const auto now = Neighbours::Clock::now();
  CHECK(neighbours.after("cuda:0", now) == "");
  neighbours.note({{.device = "cuda:0", .name = "", .identifier = "", .foreign = {"1 (a)", "2 (b)"}},
                   {.device = "cuda:1", .name = "", .identifier = ""}},
                  now);
  CHECK(neighbours.after("cuda:0", now) == "1 (a), 2 (b)");
  CHECK(neighbours.after("cuda:0", now + std::chrono::milliseconds(1)) == "");
  CHECK(neighbours.after("cuda:1", now) == "");
  neighbours.note({{.device = "cuda:0", .name = "", .identifier = ""}}, now + std::chrono::seconds(1));
  CHECK(neighbours.after("cuda:0", now) == "1 (a), 2 (b)"); // a job that ran then was disturbed all the same
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

} // namespace
} // namespace warpwright::runner
