// Isolation with real processes: what a worker that was taken over can still do, and that what it
// needs still works. As root every layer is tried; as another user those that need root are told as
// missing, and the filter alone has to hold.
#include "runner/client/client.h"
#include "runner/isolation/bubblewrap.h"
#include "support/process.h"
#include "tests/runner/tasks.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
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

TEST_CASE("a Python process may start programs and read widely, and nothing else more") {
  CHECK(probe(WorkerKind::Python, "execve") != "refused: Operation not permitted");
  for (const char *attack :
       {"internet socket", "netlink socket", "io_uring", "ptrace", "parent's memory",
        "parent's memory file", "namespace", "mount", "become root", "bpf", "performance counters",
        "key", "raise a limit"}) {
    CAPTURE(attack);
    const std::string result = probe(WorkerKind::Python, attack);
    CAPTURE(result);
    CHECK(is_refused(result));
  }
  if (!has_landlock())
    return;
  const Folder folder;
  const fs::path file = folder.path / "file";
  std::ofstream(file) << "text";
  fs::permissions(file, fs::perms::all);
  CHECK(probe(WorkerKind::Python, "read", file) == "done");
  CHECK(is_refused(probe(WorkerKind::Python, "write", folder.path / "new")));
  CHECK(is_refused(probe(WorkerKind::Python, "unlink", file)));
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
  const Folder cache;
  const std::vector<std::string> environment = {"WARPWRIGHT_PROBE_CACHE=" + cache.path.string(),
                                                "XDG_CACHE_HOME=" + cache.path.string()};
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
    CHECK(probe(kind, "write cache", "", environment) == "done");
  }
  // The CPU worker works in memory alone.
  CHECK(is_refused(probe(WorkerKind::Cpu, "write private")));
  // The driver's own sockets.
  CHECK(probe(WorkerKind::Cuda, "unix socket") == "done");
}

TEST_CASE("a worker in bubblewrap sees a file system of its own") {
  if (access("/usr/bin/bwrap", X_OK) != 0) {
    MESSAGE("skipped: bubblewrap is not installed");
    return;
  }
  setenv("WARPWRIGHT_ISOLATION", "bubblewrap", 1);
  const auto run_inside = [](const std::string &action, const std::string &argument) {
    const auto directory = PrivateDirectory::make();
    const auto command = in_bubblewrap({kProbe, "cpu", action, argument}, Sandbox{}, directory);
    auto run = run_captured(command, "", std::chrono::seconds(30));
    REQUIRE_MESSAGE(run.has_value(), (run ? "" : describe(run.error())));
    const ExitStatus status = through_bubblewrap(run->status);
    return status.signal ? "signal " + std::to_string(status.signal) : run->output + run->errors;
  };
  const std::string layers = run_inside("layers", "");
  if (layers.find("bwrap: ") != std::string::npos) {
    MESSAGE("skipped: " << layers);
  } else {
    CHECK(layers.find("read-only view") != std::string::npos);
    CHECK(run_inside("nothing", "") == "done\n");
    CHECK(is_refused(run_inside("read", "/etc/hostname")));
    CHECK(run_inside("fork", "") == "signal " + std::to_string(SIGSYS));
  }
  unsetenv("WARPWRIGHT_ISOLATION");
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
  CHECK(kinds == 4);
}

} // namespace
} // namespace warpwright::runner
