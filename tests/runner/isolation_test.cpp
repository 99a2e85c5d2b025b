// Isolation with real processes: what a worker that was taken over can still do, and that what it
// needs still works. As root every layer is tried; as another user those that need root are told as
// missing, and the filter alone has to hold.
#include "runner/connect/connect.h"
#include "runner/isolation/isolation.h"
#include "runner/isolation/requirement.h"
#include "runner/isolation/supervised.h"
#include "runner/isolation/private_directory.h"
#include "support/process.h"
#include "tests/runner/tasks.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using namespace testing;
namespace fs = std::filesystem;

const std::string kProbe = WARPWRIGHT_TEST_DIR "/runner_isolation_probe";
const std::string kRunner = WARPWRIGHT_BINARY_DIR "/warpwright-runner";

struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    path = mkdtemp(name);
    fs::permissions(path, fs::perms::all);
  }
  ~Folder() { fs::remove_all(path); }
};

/// One probe: what it printed, or the signal that ended it.
std::string probe(WorkerKind kind, const std::string &action, const std::string &argument = "",
                  std::vector<std::string> environment = {}) {
  auto directory = PrivateDirectory::make();
  REQUIRE(directory.has_value());
  environment.push_back(std::string(kPrivateDirectoryVariable) + "=" + directory->path().string());
  auto run = run_captured({kProbe, name(kind), action, argument}, "", std::chrono::seconds(30),
                          {.environment = environment});
  REQUIRE_MESSAGE(run.has_value(), (run ? "" : describe(run.error())));
  if (run->status.signal)
    return "signal " + std::to_string(run->status.signal);
  while (run->output.ends_with('\n'))
    run->output.pop_back();
  return run->output;
}

bool is_refused(const std::string &result) {
  return result.starts_with("refused: ") || result == "signal " + std::to_string(SIGSYS);
}

constexpr WorkerKind kKinds[] = {WorkerKind::Cpu, WorkerKind::Compiler, WorkerKind::Cuda};

bool has_landlock() {
  const auto layers = nlohmann::json::parse(probe(WorkerKind::Cpu, "layers"));
  return std::ranges::any_of(layers, [](const auto &layer) {
    return layer["name"] == "files" && layer["active"] == true;
  });
}

TEST_CASE("no kind of worker can start programs, reach the network, or touch other processes") {
  for (const WorkerKind kind : kKinds)
    for (const char *attack : {"internet socket",
                               "netlink socket",
                               "io_uring",
                               "execve",
                               "fork",
                               "clone a process",
                               "clone3",
                               "ptrace",
                               "parent's memory",
                               "parent's memory file",
                               "parent's environment",
                               "signal the parent",
                               "namespace",
                               "mount",
                               "become root",
                               "bpf",
                               "performance counters",
                               "key",
                               "raise a limit",
                               "old system call table"}) {
      CAPTURE(name(kind));
      CAPTURE(attack);
      const std::string result = probe(kind, attack);
      CAPTURE(result);
      // SIGSEGV: the kernel may lack the old table altogether.
      CHECK((is_refused(result) || (attack == std::string("old system call table") &&
                                    result == "signal " + std::to_string(SIGSEGV))));
    }
}

/// Whether the probe says that a layer holds here.
bool holds(WorkerKind kind, const std::string &wanted) {
  const auto layers = nlohmann::json::parse(probe(kind, "layers"));
  return std::ranges::any_of(layers, [&](const auto &layer) {
    return layer["name"] == wanted && layer["active"] == true;
  });
}

/// A place outside of every enclosure, with a secret and a socket that answers.
struct Outside {
  Folder folder;
  fs::path secret = folder.path / "token", stream = folder.path / "stream",
           datagrams = folder.path / "datagrams";
  int sockets[2] = {listening(stream, SOCK_STREAM), listening(datagrams, SOCK_DGRAM)};

  Outside() {
    std::ofstream(secret) << "secret";
    for (const fs::path &path : {secret, stream, datagrams})
      fs::permissions(path, fs::perms::all);
  }
  ~Outside() {
    for (const int socket : sockets)
      close(socket);
  }
  static int listening(const fs::path &path, int type) {
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    std::strncpy(place.sun_path, path.c_str(), sizeof place.sun_path - 1);
    const int made = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    REQUIRE(bind(made, reinterpret_cast<sockaddr *>(&place), sizeof place) == 0);
    if (type == SOCK_STREAM)
      REQUIRE(listen(made, 16) == 0);
    return made;
  }
};

/// What a program of a client's could do to the machine, and what it is told to do it to.
std::vector<std::pair<std::string, std::string>> break_outs(const Outside &outside) {
  const std::string other = std::to_string(getpid());
  return {{"read", outside.secret},
          {"write", outside.folder.path / "new"},
          {"stream to a socket", outside.stream},
          {"datagram to a socket", outside.datagrams},
          {"terminal", ""},
          {"user namespace of a child", ""},
          {"another's cores", other},
          {"signal another", other}};
}

TEST_CASE("a Python process may start programs and make pairs of sockets, and nothing else more") {
  const Outside outside;
  for (const WorkerKind kind : {WorkerKind::Python, WorkerKind::Candidate}) {
    CAPTURE(name(kind));
    CHECK(probe(kind, "execve") == "");
    CHECK(probe(kind, "socket pair") == "done");
    CHECK(probe(kind, "fork") == "done");
    for (const char *attack :
         {"internet socket", "netlink socket", "io_uring", "ptrace", "parent's memory",
          "parent's memory file", "namespace", "mount", "become root", "bpf",
          "performance counters", "key", "raise a limit", "clone3"}) {
      CAPTURE(attack);
      const std::string result = probe(kind, attack);
      CAPTURE(result);
      CHECK(is_refused(result));
    }
    for (const auto &[attack, argument] : break_outs(outside)) {
      CAPTURE(attack);
      CHECK(is_refused(probe(kind, attack, argument)));
    }
  }
}

TEST_CASE("a GPU's worker is kept from the same") {
  const Outside outside;
  for (const auto &[attack, argument] : break_outs(outside)) {
    CAPTURE(attack);
    CHECK(is_refused(probe(WorkerKind::Cuda, attack, argument)));
  }
}

TEST_CASE("without isolation every one of these gets through") {
  const Outside outside;
  for (const auto &[attack, argument] : break_outs(outside)) {
    CAPTURE(attack);
    CHECK(probe(WorkerKind::Python, attack, argument, {"WARPWRIGHT_ISOLATION=off"}) == "done");
  }
}

TEST_CASE("what a worker sees is what it needs: no home, no key, no process of another") {
  if (!holds(WorkerKind::Python, "view") || !holds(WorkerKind::Python, "processes")) {
    MESSAGE("skipped: no namespaces here: " << probe(WorkerKind::Python, "layers"));
    return;
  }
  const char *home = std::getenv("HOME");
  const std::vector<std::string> by_view = {"WARPWRIGHT_ISOLATION_WITHOUT=files,system calls",
                                            "WARPWRIGHT_REQUIRED_ISOLATION=none"};
  for (const WorkerKind kind : kWorkerKinds) {
    CAPTURE(name(kind));
    for (const std::string &path : {std::string(home ? home : "/root") + "/.bashrc", std::string("/etc/shadow"),
                                    std::string("/etc/hostname"), "/proc/" + std::to_string(getpid()) + "/status"})
      CHECK(probe(kind, "read", path, by_view) == "refused: No such file or directory");
    CHECK(is_refused(probe(kind, "write", "/usr/warpwright-probe", by_view)));
    CHECK(is_refused(probe(kind, "write", "/warpwright-probe", by_view)));
  }
}

TEST_CASE("a candidate may not change how it is scheduled, and has a user of its own") {
  for (const char *change : {"own cores", "own priority", "own scheduler"}) {
    CAPTURE(change);
    CHECK(probe(WorkerKind::Python, change) == "done");
    CHECK(is_refused(probe(WorkerKind::Candidate, change)));
  }
  if (geteuid() != 0 || !holds(WorkerKind::Candidate, "view")) {
    MESSAGE("skipped: another user needs root and a view");
    return;
  }
  CHECK(probe(WorkerKind::Python, "user", "65534") == "done");
  CHECK(probe(WorkerKind::Candidate, "user", "65533") == "done");
}

/// Its output is open for as long as any process that it started lives: whether that is over when it is.
bool leaves_nothing(WorkerKind kind, const std::string &action,
                    std::vector<std::string> environment = {},
                    std::chrono::seconds limit = std::chrono::seconds(45)) {
  const auto run = run_captured({kProbe, name(kind), action}, "", limit,
                                {.environment = std::move(environment)});
  return run && run->output == "done\n";
}

TEST_CASE("daemons and bombs of processes end with their worker") {
  for (const char *action : {"daemon", "bomb"}) {
    CAPTURE(action);
    CHECK(leaves_nothing(WorkerKind::Python, action));
    CHECK(leaves_nothing(WorkerKind::Candidate, action));
    // Where the kernel gives no namespaces the supervisor ends its descendants itself.
    CHECK(leaves_nothing(WorkerKind::Python, action,
                         {"WARPWRIGHT_ISOLATION_WITHOUT=processes,view,network,resources"}));
    CHECK(!leaves_nothing(WorkerKind::Python, action, {"WARPWRIGHT_ISOLATION=off"},
                          std::chrono::seconds(1)));
  }
}

TEST_CASE("a worker that takes too much memory does not get it") {
  const std::vector<std::string> limit = {"WARPWRIGHT_WORKER_MEMORY_MB=256"};
  for (const WorkerKind kind : {WorkerKind::Cpu, WorkerKind::Python, WorkerKind::Candidate}) {
    CAPTURE(name(kind));
    CHECK(is_refused(probe(kind, "memory", "512", limit)));
    CHECK(probe(kind, "memory", "64", limit) == "done");
  }
}

TEST_CASE("a worker with all that it starts stays within its memory, where the controller is delegated") {
  const std::vector<std::string> limit = {"WARPWRIGHT_WORKER_MEMORY_MB=256"};
  const std::string layers = probe(WorkerKind::Python, "layers", "", limit);
  if (layers.find("memory.max") == std::string::npos) {
    MESSAGE("skipped: no group of this process has the memory controller of cgroup v2");
    return;
  }
  CHECK(layers.find("pids.max 4096") != std::string::npos);
  for (const WorkerKind kind : {WorkerKind::Python, WorkerKind::Candidate}) {
    CAPTURE(name(kind));
    CHECK(probe(kind, "memory in parts", "128", limit) == "done");
    CHECK(probe(kind, "memory in parts", "512", limit) != "done");
  }
}

TEST_CASE("a worker that is killed while it is enclosed is not enclosed with less for that") {
  const std::string usual = probe(WorkerKind::Cpu, "nothing");
  REQUIRE(usual == "done");
  for (int round = 0; round < 40; ++round) {
    auto process = Process::spawn({kProbe, "cpu", "nothing"}, {.environment = {std::string(kRequirementVariable) + "=remote"}});
    REQUIRE(process.has_value());
    const std::string path = "/proc/" + std::to_string(process->pid()) + "/task/" +
                             std::to_string(process->pid()) + "/children";
    pid_t child = 0;
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
         child == 0 && std::chrono::steady_clock::now() < end && !process->poll();)
      std::ifstream(path) >> child;
    std::this_thread::sleep_for(std::chrono::microseconds(300 * round));
    if (child > 0)
      kill(child, SIGKILL);
    const int output = process->release_stdout();
    std::string text(4096, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(read(output, text.data(), text.size()), 0)));
    process->wait();
    close(output);
    CAPTURE(round);
    CHECK_MESSAGE((text.empty() || text == "done\n"), text);
  }
}

TEST_CASE("a worker that is ended takes all that it started along, before it is called ended") {
  auto spawned = Process::spawn({kProbe, "python", "daemon, and stay"});
  REQUIRE(spawned.has_value());
  std::optional<Process> process = std::move(*spawned);
  const int out = process->release_stdout();
  char word[5] = "";
  REQUIRE(read(out, word, 4) == 4); // the daemon is there
  end_supervised(process);
  fcntl(out, F_SETFL, O_NONBLOCK);
  char rest[16];
  ssize_t count;
  while ((count = read(out, rest, sizeof rest)) > 0) {
  }
  CHECK(count == 0); // nobody holds the other end any more
  close(out);
}

TEST_CASE("without isolation the same probe gets through, so the refusals are isolation's") {
  const std::vector<std::string> off = {"WARPWRIGHT_ISOLATION=off"};
  for (const char *attack : {"internet socket", "netlink socket", "fork", "signal the parent"}) {
    CAPTURE(attack);
    CHECK(probe(WorkerKind::Cpu, attack, "", off) == "done");
  }
  const Folder folder;
  CHECK(probe(WorkerKind::Cpu, "write", folder.path / "file", off) == "done");
}

TEST_CASE("secrets and folders of the user cannot be read, and nothing can be written outside") {
  if (!has_landlock()) {
    MESSAGE("skipped: this kernel has no Landlock");
    return;
  }
  const Folder folder;
  const fs::path secret = folder.path / "secret";
  std::ofstream(secret) << "token";
  fs::permissions(secret, fs::perms::all);
  const char *home = std::getenv("HOME");
  for (const WorkerKind kind : kKinds) {
    CAPTURE(name(kind));
    CHECK(is_refused(probe(kind, "read", secret)));
    CHECK(is_refused(probe(kind, "read", "/etc/shadow")));
    CHECK(is_refused(probe(kind, "list", home ? home : "/root")));
    CHECK(is_refused(probe(kind, "list", "/")));
    CHECK(is_refused(probe(kind, "write", folder.path / "new")));
    CHECK(is_refused(probe(kind, "write", "/dev/shm/warpwright-probe")));
    CHECK(is_refused(probe(kind, "unlink", secret)));
  }
  CHECK(fs::exists(secret));
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("what workers need still works") {
  for (const WorkerKind kind : kKinds) {
    CAPTURE(name(kind));
    for (const char *need : {"nothing", "thread", "jit"})
      CHECK(probe(kind, need) == "done");
    for (const char *file :
         {"/proc/self/status", "/proc/cpuinfo", "/etc/ld.so.cache", "/dev/urandom", "/usr/bin/env"})
      CHECK(probe(kind, "read", file) == "done");
  }
  for (const WorkerKind kind : {WorkerKind::Compiler, WorkerKind::Cuda}) {
    CAPTURE(name(kind));
    CHECK(probe(kind, "write private") == "done");
  }
  // The CPU worker works in memory alone.
  CHECK(is_refused(probe(WorkerKind::Cpu, "write private")));
  // The driver's own sockets.
  CHECK(probe(WorkerKind::Cuda, "unix socket") == "done");
}

TEST_CASE("a mode that is not known is an error, not an open door") {
  const std::string result = probe(WorkerKind::Cpu, "nothing", "", {"WARPWRIGHT_ISOLATION=of"});
  CHECK(result.find("WARPWRIGHT_ISOLATION is \"of\"") != std::string::npos);
}

TEST_CASE("a layer can be left out by name, and says so") {
  const std::vector<std::string> without = {
      "WARPWRIGHT_ISOLATION_WITHOUT=system calls,network,user"};
  CHECK(probe(WorkerKind::Cpu, "fork", "", without) == "done");
  const auto layers = nlohmann::json::parse(probe(WorkerKind::Cpu, "layers", "", without));
  int left_out = 0;
  for (const auto &layer : layers)
    left_out +=
        layer["active"] == false && layer["detail"] == "turned off by WARPWRIGHT_ISOLATION_WITHOUT";
  CHECK(left_out == 3);
}

TEST_CASE("private directories go with their owner, and those of dead runners are swept") {
  fs::path path;
  {
    const auto directory = PrivateDirectory::make();
    REQUIRE(directory.has_value());
    path = directory->path();
    CHECK(fs::status(path).permissions() == fs::perms::owner_all);
    PrivateDirectory::remove_leftovers();
    CHECK(fs::exists(path)); // its runner, this test, is alive
  }
  CHECK(!fs::exists(path));
  auto ended = Process::spawn({"/bin/true"});
  REQUIRE(ended.has_value());
  ended->wait();
  std::string name = path.filename().string();
  const auto last = name.rfind('-'), before = name.rfind('-', last - 1);
  name.replace(before + 1, last - before - 1, std::to_string(ended->pid()));
  fs::create_directory(path.parent_path() / name);
  PrivateDirectory::remove_leftovers();
  CHECK(!fs::exists(path.parent_path() / name));
}

TEST_CASE("remote clients are not served, nor host code run, where a layer is missing") {
  for (const auto &[kind, requirement, without] :
       {std::tuple{WorkerKind::Cpu, "remote", "capabilities"},
        std::tuple{WorkerKind::Cuda, "remote", "user"},
        std::tuple{WorkerKind::Python, "remote", "processes"},
        std::tuple{WorkerKind::Python, "local", "system calls"},
        std::tuple{WorkerKind::Candidate, "local", "view"}}) {
    CAPTURE(name(kind));
    CAPTURE(without);
    const std::string left_out = std::string("WARPWRIGHT_ISOLATION_WITHOUT=") + without;
    const auto with = [&, kind = kind](const std::string &required) {
      return probe(kind, "nothing", "", {left_out, "WARPWRIGHT_REQUIRED_ISOLATION=" + required});
    };
    const std::string refusal = with(requirement);
    CAPTURE(refusal);
    CHECK(refusal.find(std::string(without) + " (turned off") != std::string::npos);
    CHECK(refusal.find("--allow-weak-isolation") != std::string::npos);
    CHECK(with("none") == "done");
  }
  CHECK(probe(WorkerKind::Cpu, "nothing", "",
              {"WARPWRIGHT_ISOLATION=off", "WARPWRIGHT_REQUIRED_ISOLATION=remote"}) != "done");
}

TEST_CASE("serve opens no port where a layer is missing, and says which") {
  const std::vector<std::string> serve = {kRunner, "serve", "--fleet", "amqps://nobody@127.0.0.1:1/"};
  const auto run =
      run_captured(serve, "", std::chrono::seconds(60),
                   {.environment = {"WARPWRIGHT_ISOLATION_WITHOUT=capabilities"}, .inherited = {}});
  REQUIRE_MESSAGE(run.has_value(), (run ? "" : describe(run.error())));
  CHECK(run->status.code == 2);
  CAPTURE(run->errors);
  CHECK(run->errors.find("clients of other machines are not served") != std::string::npos);
  CHECK(run->errors.find("capabilities (turned off") != std::string::npos);
}

/// The real runner with the real CPU worker, or null where that is not built.
std::unique_ptr<BlockingClient> runner_with_cpu() {
  if (!fs::exists(WARPWRIGHT_BINARY_DIR "/warpwright-worker-cpu")) {
    MESSAGE("skipped: the CPU worker is not built");
    return nullptr;
  }
  auto client = BlockingClient::connect("stdio:" + kRunner + " serve");
  REQUIRE_MESSAGE(client.has_value(), (client ? "" : describe(client.error())));
  return std::move(*client);
}

TEST_CASE("the CPU worker verifies, refuses and crashes in isolation as it does without") {
  const auto client = runner_with_cpu();
  if (!client)
    return;
  VerifyOptions options;
  options.device = "cpu";
  const Task task = square_task(4096);
  for (const auto &[body, outcome] :
       {std::pair{"  if (i < n) y[i] = x[i] * x[i];", model::Outcome::Verified},
        std::pair{"  if (i < n - 1) y[i] = x[i] * x[i];", model::Outcome::WrongResult},
        std::pair{"  if (i < n) y[i + 100000] = x[i];", model::Outcome::Crash},
        std::pair{"  if (i < n) y[i] = x[i] * x[i];", model::Outcome::Verified}}) {
    const auto verdict = client->verify(task, square_candidate(body), options, {});
    REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
    INFO(verdict->message);
    CHECK(verdict->outcome == outcome);
  }
}

TEST_CASE("a job of device code starts no interpreter") {
  const auto client_path = fs::path(WARPWRIGHT_BINARY_DIR "/warpwright-worker-cpu");
  if (!fs::exists(client_path)) {
    MESSAGE("skipped: the CPU worker is not built");
    return;
  }
  const Outside outside;
  const fs::path python = outside.folder.path / "python", marks = outside.folder.path / "marks";
  std::ofstream(python) << "#!/bin/sh\n"
                           "echo started >> " << marks.string() << "\n"
                           "cat " << outside.secret.string() << " >&2\n"
                           "echo '{\"paths\": [], \"executable\": \"" << python.string() << "\"}'\n";
  fs::permissions(python, fs::perms::all);
  setenv("WARPWRIGHT_PYTHON", python.c_str(), 1);
  const auto client = runner_with_cpu();
  unsetenv("WARPWRIGHT_PYTHON");
  VerifyOptions options;
  options.device = "cpu";
  const auto plain = client->verify(square_task(64), square_candidate("  if (i < n) y[i] = x[i] * x[i];"),
                                    options, {});
  REQUIRE_MESSAGE(plain.has_value(), (plain ? "" : describe(plain.error())));
  CHECK(plain->outcome == model::Outcome::Verified);
  CHECK(!fs::exists(marks)); // it would have been started before any job
}

TEST_CASE("doctor says of every layer whether it holds") {
  const auto run = run_captured({kRunner, "doctor", "--json"}, "", std::chrono::seconds(60));
  REQUIRE(run.has_value());
  const auto findings = nlohmann::json::parse(run->output)["findings"];
  int kinds = 0;
  for (const auto &finding : findings) {
    if (!finding.contains("isolation"))
      continue;
    ++kinds;
    const auto &layers = finding["isolation"];
    CAPTURE(finding.dump(1));
    CHECK(layers.size() >= 6);
    CHECK(std::ranges::any_of(layers, [](const auto &layer) {
      return layer["name"] == "system calls" && layer["active"] == true;
    }));
  }
  CHECK(kinds == std::ssize(kWorkerKinds));
}

} // namespace
} // namespace warpwright::runner
