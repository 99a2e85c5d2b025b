// Everything at once: two runners with real CPU workers on a real broker and behind TLS, three clients that keep them busy, and
// SIGKILL for workers, runners, clients and the broker at random moments, cut lines too. In the end every job has one verdict, the
// right one, and no process, socket, private directory or cgroup is left.
//
// WARPWRIGHT_CHAOS_SECONDS: how long things die (20; the test runner_chaos_long takes 1800). WARPWRIGHT_CHAOS_SEED repeats a run's
// choices, not its timing.
#include "tests/runner/chaos_jobs.h"
#include "tests/runner/fleet_fixture.h"
#include "tests/runner/process_tree.h"
#include "tests/runner/remote_fixture.h"

#include <random>
#include <ranges>
#include <set>

namespace warpwright::runner {
namespace {

using namespace testing;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kRunners = 2;
constexpr std::size_t kOfOneBroker = 8; ///< verdicts of the fleet between two deaths of the broker
constexpr milliseconds kShortest{100}, kLongest{3'000}; ///< between two kills
constexpr seconds kOrphanLives{30}; ///< an orphan of a killed runner that is older is left over
constexpr std::chrono::minutes kFinishing{10};

std::uint64_t from_environment(const char *name, std::uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::stoull(text) : otherwise;
}

std::vector<std::string> lines_of(const fs::path &path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

std::set<fs::path> cgroups_of_ours() {
  std::set<fs::path> found;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(
           "/sys/fs/cgroup", fs::directory_options::skip_permission_denied, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error))
    if (at->is_directory(error) &&
        at->path().filename().string().find("warpwright") != std::string::npos)
      found.insert(at->path());
  return found;
}

/// Other tests run at the same time. Names are warpwright-PID-N-KIND.
bool has_living_maker(const fs::path &cgroup) {
  const std::string name = cgroup.filename().string();
  const int pid = std::atoi(name.substr(std::string("warpwright-").size()).c_str());
  return pid > 0 && kill(pid, 0) == 0;
}

struct ChaosClientProcess {
  std::string name, url;
  std::optional<Process> process;
};

class World {
public:
  explicit World(std::uint64_t seed) : random_(seed) {
    adopt_orphans();
    fs::permissions(folder_.path, fs::perms(0755)); // workers give up root
    fs::create_directories(temporary());
    fs::permissions(temporary(), fs::perms(0777) | fs::perms::sticky_bit);
    broker_.emplace();
    broker_->await();
    for (std::size_t i = 0; i < kRunners; ++i)
      start_runner(i);
    const std::string fleet = broker_->url() + "&session=chaos";
    // With the session, so that its queue is older than a second: see docs/operate/fleet.md, "Limits".
    await_devices(*testing::connect_to(fleet), kRunners);
    clients_.push_back({"fleet", fleet + "&patience=600", {}});
    for (std::size_t i = 0; i < kRunners; ++i) {
      relays_.push_back(std::make_unique<Relay>(runners_[i]->address()));
      clients_.push_back({"tls" + std::to_string(i),
                          url_of(relays_[i]->address(), folder_.path) + "&retry-s=600",
                          {}});
    }
    for (ChaosClientProcess &client : clients_)
      start_client(client);
  }

  /// Kills until the time is over.
  void run(seconds duration) {
    const auto end = Clock::now() + duration;
    while (Clock::now() < end) {
      const auto next =
          Clock::now() +
          milliseconds(kShortest.count() + long(random_() % std::uint64_t(kLongest.count())));
      wait_until([&] {
        look_for_orphans();
        return Clock::now() > next;
      });
      for (ChaosClientProcess &client : clients_)
        if (client.process->poll())
          ended_early_.push_back(client.name);
      if (!ended_early_.empty())
        return;
      kill_something();
    }
  }

  /// @return whether all clients got what they wait for
  bool finish() {
    std::ofstream(folder_.path / "stop") << "stop\n";
    return wait_until(
        [&] {
          look_for_orphans();
          return std::ranges::all_of(clients_, [](ChaosClientProcess &client) {
            const auto ended = client.process->poll();
            return ended && ended->signal == 0 && ended->code == 0;
          });
        },
        kFinishing);
  }

  /// Ends runners and broker. @return what is left of all, in words
  std::vector<std::string> leftovers() {
    for (auto &runner : runners_)
      runner->kill(SIGTERM);
    for (auto &runner : runners_)
      runner.reset();
    relays_.clear();
    broker_.reset();
    wait_until(
        [&] {
          reap_orphans({});
          return descendants(getpid()).empty();
        },
        kOrphanLives);
    std::vector<std::string> left = old_orphans_;
    for (const pid_t pid : descendants(getpid()))
      left.push_back("process " + command_of(pid));
    for (const auto &entry : fs::directory_iterator(temporary()))
      left.push_back("in the temporary folder: " + entry.path().string());
    for (const auto &entry : fs::directory_iterator(folder_.path))
      if (entry.is_socket())
        left.push_back("socket " + entry.path().string());
    for (const fs::path &cgroup : cgroups_of_ours())
      if (!cgroups_before_.contains(cgroup) && !has_living_maker(cgroup))
        left.push_back("cgroup " + cgroup.string());
    return left;
  }

  /// Looks at what the clients wrote down.
  struct Tally {
    std::size_t sent = 0, verdicts = 0, blamed = 0;
    std::vector<std::string> lost, doubled, wrong;
    std::map<std::string, int> outcomes;
  };
  Tally tally() const {
    Tally tally;
    for (const ChaosClientProcess &client : clients_) {
      std::map<std::string, int> answers;
      for (const std::string &line : lines_of(folder_.path / (client.name + ".verdicts"))) {
        const std::size_t key = line.find(' '), end = line.find(' ', key + 1);
        const std::string outcome = line.substr(key + 1, end - key - 1);
        const int number = std::stoi(line.substr(client.name.size() + 1));
        ++answers[line.substr(0, key)];
        ++tally.verdicts;
        ++tally.outcomes[outcome];
        if (outcome == model::name(chaos_job(number).outcome))
          continue;
        // Its worker was killed, and the worker of its second run too: a verdict that says so.
        if (outcome != "error" && line.find("signal 9") != std::string::npos)
          ++tally.blamed;
        else
          tally.wrong.push_back(line);
      }
      for (const std::string &number : lines_of(folder_.path / (client.name + ".sent"))) {
        const std::string key = client.name + "-" + number;
        ++tally.sent;
        if (!answers.contains(key))
          tally.lost.push_back(key);
      }
      for (const auto &[key, count] : answers)
        if (count > 1)
          tally.doubled.push_back(key + ", " + std::to_string(count) + " times");
    }
    return tally;
  }

  const std::map<std::string, int> &kills() const { return kills_; }
  const std::vector<std::string> &ended_early() const { return ended_early_; }

private:
  fs::path temporary() const { return folder_.path / "tmp"; }

  void start_runner(std::size_t index) {
    const std::string address = runners_[index] ? runners_[index]->address() : "127.0.0.1:0";
    runners_[index].reset();
    runners_[index] = std::make_unique<RunningService>(
        folder_.path,
        std::vector<std::string>{"--fleet", broker_->url(), "--socket",
                                 folder_.path / ("runner" + std::to_string(index))},
        address,
        std::vector<std::string>{"TMPDIR=" + temporary().string(),
                                 "WARPWRIGHT_CPU_WORKER=" WARPWRIGHT_BINARY_DIR
                                 "/warpwright-worker-cpu"});
  }

  void start_client(ChaosClientProcess &client) {
    auto process = Process::spawn(
        {WARPWRIGHT_TEST_DIR "/runner_chaos_client", client.url, folder_.path, client.name, "8"});
    REQUIRE(process.has_value());
    client.process = std::move(*process);
  }

  void kill_something() {
    static const std::vector<std::string> kVictims = {
        "worker", "runner", "client", "broker", "line", "worker", "client", "runner", "worker"};
    std::string victim = kVictims[next_ < kVictims.size() ? next_ : random_() % kVictims.size()];
    ++next_;
    if (victim == "broker" && fleet_verdicts() < broker_again_)
      victim = "worker"; // it is not back yet: each death costs seconds of recovery
    const std::size_t index = random_() % kRunners;
    if (victim == "worker") {
      const auto workers = descendants(runners_[index]->pid());
      if (workers.empty())
        return;
      ::kill(workers[random_() % workers.size()], SIGKILL);
    } else if (victim == "runner") {
      runners_[index]->kill(SIGKILL);
      start_runner(index);
    } else if (victim == "client") {
      ChaosClientProcess &client = clients_[random_() % clients_.size()];
      client.process->kill(SIGKILL);
      client.process->wait();
      start_client(client);
    } else if (victim == "line") {
      relays_[index]->cut(/*stays_down=*/false);
    } else {
      broker_->kill();
      broker_->start();
      broker_again_ = fleet_verdicts() + kOfOneBroker;
    }
    ++kills_[victim];
  }

  std::size_t fleet_verdicts() const {
    return lines_of(folder_.path / (clients_.front().name + ".verdicts")).size();
  }

  std::set<pid_t> own_children() const {
    std::set<pid_t> own = {broker_->pid()};
    for (const auto &runner : runners_)
      own.insert(runner->pid());
    for (const ChaosClientProcess &client : clients_)
      own.insert(client.process->pid());
    return own;
  }

  /// Waits for orphans that have ended, which nobody else can.
  static std::vector<pid_t> reap_orphans(const std::set<pid_t> &own) {
    std::vector<pid_t> alive;
    for (const auto &[pid, entry] : all_processes())
      if (entry.parent == getpid() && !own.contains(pid)) {
        if (entry.state == 'Z')
          waitpid(pid, nullptr, WNOHANG);
        else
          alive.push_back(pid);
      }
    return alive;
  }

  void look_for_orphans() {
    if (Clock::now() < next_look_)
      return;
    next_look_ = Clock::now() + milliseconds(250);
    std::map<pid_t, Clock::time_point> seen;
    for (const pid_t pid : reap_orphans(own_children())) {
      const auto known = orphans_.find(pid);
      seen[pid] = known == orphans_.end() ? Clock::now() : known->second;
      if (seen[pid] + kOrphanLives > Clock::now())
        continue;
      old_orphans_.push_back("orphan " + command_of(pid));
      ::kill(pid, SIGKILL);
    }
    orphans_ = std::move(seen);
  }

  std::mt19937_64 random_;
  const std::set<fs::path> cgroups_before_ = cgroups_of_ours();
  testing::Folder folder_;
  std::optional<Broker> broker_;
  std::array<std::unique_ptr<RunningService>, kRunners> runners_;
  std::vector<std::unique_ptr<Relay>> relays_;
  std::vector<ChaosClientProcess> clients_;
  std::map<pid_t, Clock::time_point> orphans_; ///< since when
  std::vector<std::string> old_orphans_, ended_early_;
  std::map<std::string, int> kills_;
  std::size_t next_ = 0;
  std::size_t broker_again_ = 0;
  Clock::time_point next_look_;
};

std::string joined(const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts | std::views::take(20))
    all += "\n  " + text;
  return all;
}

TEST_CASE("an orphan below this process is seen, so that what is left over would be") {
  adopt_orphans();
  auto parent = Process::spawn({"/bin/sh", "-c", "sleep 1000 & echo $! && exec sleep 1000"});
  REQUIRE(parent.has_value());
  char text[16] = {};
  REQUIRE(read(parent->release_stdout(), text, sizeof text - 1) > 0);
  const pid_t orphan = std::atoi(text);
  parent->kill(SIGKILL);
  parent->wait();
  CHECK(wait_until([&] { return all_processes()[orphan].parent == getpid(); }));
  CHECK(descendants(getpid()) == std::vector<pid_t>{orphan});
  CHECK(wait_until([&] { return command_of(orphan).contains("sleep"); })); // the shell forks, then executes
  ::kill(orphan, SIGKILL);
  waitpid(orphan, nullptr, 0);
  CHECK(descendants(getpid()).empty());
}

TEST_CASE("whatever is killed, every job has one verdict and nothing is left over") {
  const std::uint64_t seed = from_environment("WARPWRIGHT_CHAOS_SEED", std::random_device{}());
  const seconds duration(from_environment("WARPWRIGHT_CHAOS_SECONDS", 20));
  MESSAGE("WARPWRIGHT_CHAOS_SEED=" << seed);
  World world(seed);
  world.run(duration);
  CHECK_MESSAGE(world.ended_early().empty(), joined(world.ended_early()));
  const bool finished = world.finish();
  const World::Tally tally = world.tally();
  const std::vector<std::string> left = world.leftovers();
  std::string kills, outcomes;
  for (const auto &[victim, count] : world.kills())
    kills += victim + " " + std::to_string(count) + ", ";
  for (const auto &[outcome, count] : tally.outcomes)
    outcomes += outcome + " " + std::to_string(count) + ", ";
  MESSAGE("in " << duration.count() << " s: jobs " << tally.sent << ", verdicts " << tally.verdicts
                << " (" << outcomes << "of which killed twice " << tally.blamed << "), lost "
                << tally.lost.size() << ", doubled " << tally.doubled.size() << ", wrong "
                << tally.wrong.size() << ", left over " << left.size() << "; killed: " << kills);
  CHECK(finished);
  CHECK(tally.sent > 0);
  CHECK_MESSAGE(tally.lost.empty(), joined(tally.lost));
  CHECK_MESSAGE(tally.doubled.empty(), joined(tally.doubled));
  CHECK_MESSAGE(tally.wrong.empty(), joined(tally.wrong));
  CHECK_MESSAGE(left.empty(), joined(left));
  for (const char *victim : {"worker", "runner", "client", "broker", "line"})
    CHECK_MESSAGE(world.kills().contains(victim), victim);
}

} // namespace
} // namespace warpwright::runner
