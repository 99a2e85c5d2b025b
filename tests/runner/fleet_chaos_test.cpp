// 500 jobs through a fleet while its worker processes, its runners, its broker and its client are killed
// with SIGKILL at random moments and started again: every job ends in one verdict, reported once.
// WARPWRIGHT_CHAOS_SEED repeats a run's choices (not its timing), WARPWRIGHT_CHAOS_JOBS sets the number.
#include "tests/runner/fleet_fixture.h"

#include <fstream>
#include <map>
#include <random>
#include <set>

namespace warpwright::runner {
namespace {

using namespace testing;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes kLimit{8};
constexpr std::chrono::milliseconds kQuiet{
    5'000};                        ///< without a verdict, before something else dies
constexpr int kMaxBrokerKills = 3; ///< each costs seconds of recovery

std::uint64_t from_environment(const char *name, std::uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::stoull(text) : otherwise;
}

/// Processes below `root`, itself left out.
std::vector<pid_t> descendants(pid_t root) {
  std::map<pid_t, pid_t> parents;
  for (const auto &entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    const auto after_name = line.rfind(") ");
    if (after_name != std::string::npos && line.size() > after_name + 4)
      parents[std::stoi(name)] = std::atoi(line.c_str() + after_name + 4);
  }
  std::vector<pid_t> found;
  for (const auto &[pid, parent] : parents)
    for (pid_t at = parent; at > 1 && parents.contains(at); at = parents.at(at))
      if (at == root) {
        found.push_back(pid);
        break;
      }
  return found;
}

std::vector<std::string> lines_of(const fs::path &path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

class Fleet {
public:
  Fleet(std::uint64_t seed, int jobs) : random_(seed), jobs_(jobs) {
    for (auto &runner : runners_)
      runner = start_runner(url_);
    // With the session, so that its queue is older than a second: see docs/fleet.md, "Limits".
    await_devices(*connect_to(url_ + "&session=chaos"), runners_.size());
    start_client();
  }

  /// Until the client has reported everything. @return whether it did within the limit
  bool run() {
    const auto end = Clock::now() + kLimit;
    while (Clock::now() < end) {
      const std::size_t threshold = reported() + 3 + random_() % 25;
      const auto quiet = Clock::now() + kQuiet;
      std::optional<ExitStatus> ended;
      wait_until([&] {
        ended = client_->poll();
        return ended || reported() >= threshold || Clock::now() > quiet;
      });
      if (ended) {
        CHECK(ended->code == 0);
        CHECK(ended->signal == 0);
        return true;
      }
      kill_something();
    }
    return false;
  }

  std::vector<std::string> report() const { return lines_of(log_); }
  std::string kills() const {
    std::string text;
    for (const auto &[victim, count] : kills_)
      text += victim + " " + std::to_string(count) + ", ";
    return text;
  }
  int kills_of(const std::string &victim) const {
    const auto found = kills_.find(victim);
    return found == kills_.end() ? 0 : found->second;
  }

private:
  std::size_t reported() const { return lines_of(log_).size(); }

  void start_client() {
    auto client =
        Process::spawn({WARPWRIGHT_TEST_DIR "/runner_fleet_client",
                        url_ + "&session=chaos&patience=600", std::to_string(jobs_), log_});
    REQUIRE(client.has_value());
    client_ = std::move(*client);
  }

  void kill_something() {
    static const std::vector<std::string> kVictims = {"worker", "runner", "client", "broker",
                                                      "worker", "runner", "worker"};
    std::string victim = kVictims[next_ < kVictims.size() ? next_ : random_() % kVictims.size()];
    ++next_;
    if (victim == "broker" && kills_[victim] >= kMaxBrokerKills)
      victim = "runner";
    Process &runner = *runners_[random_() % runners_.size()];
    if (victim == "worker") {
      const auto workers = descendants(runner.pid());
      if (workers.empty())
        return;
      ::kill(workers[random_() % workers.size()], SIGKILL);
    } else if (victim == "runner") {
      runner.kill(SIGKILL);
      runner.wait();
      runner = start_runner(url_);
    } else if (victim == "client") {
      client_->kill(SIGKILL);
      client_->wait();
      start_client();
    } else {
      shared_broker().kill();
      shared_broker().start();
    }
    ++kills_[victim];
  }

  std::mt19937 random_;
  const int jobs_;
  const std::string url_ = testing::broker().url();
  Folder folder_;
  const fs::path log_ = folder_.path / "verdicts";
  std::array<std::optional<Process>, 2> runners_;
  std::optional<Process> client_;
  std::size_t next_ = 0;
  std::map<std::string, int> kills_;
};

TEST_CASE("500 jobs end in one verdict each, whatever is killed") {
  const std::uint64_t seed = from_environment("WARPWRIGHT_CHAOS_SEED", std::random_device{}());
  const int jobs = static_cast<int>(from_environment("WARPWRIGHT_CHAOS_JOBS", 500));
  MESSAGE("WARPWRIGHT_CHAOS_SEED=" << seed);
  Fleet fleet(seed, jobs);
  const bool ended = fleet.run();
  MESSAGE("killed: " << fleet.kills());
  REQUIRE(ended);
  std::map<std::string, int> reports;
  for (const std::string &line : fleet.report()) {
    CHECK_MESSAGE(line.find(" error") == std::string::npos, line);
    ++reports[line.substr(0, line.find(' '))];
  }
  CHECK(reports.size() == static_cast<std::size_t>(jobs));
  for (const auto &[key, count] : reports)
    CHECK_MESSAGE(count == 1, key);
  for (const char *victim : {"worker", "runner", "client", "broker"})
    CHECK_MESSAGE(fleet.kills_of(victim) > 0, victim);
}

} // namespace
} // namespace warpwright::runner
