// Runners behind a shell, with the real programs: OpenSSH's server and client, the runner that is
// copied, its service and, where results count, its CPU worker. In place of srun, docker and kubectl
// stand small programs of the same names, which check that they were called as the real ones are and
// then run the command. slurm_test.py has a real srun, and container_test.py podman.
#include "support/files.h"
#include "support/version.h"
#include "tests/runner/background_job.h"
#include "tests/runner/sshd_fixture.h"

#include <csignal>
#include <fstream>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using model::Outcome;

/// Folders of the machine that a test takes for another one, and of the client.
struct Scene {
  TemporaryFolder folder;
  fs::path cache = folder.path / "cache", temporary = folder.path / "tmp";
  ProgramsOnPath programs{folder.path};

  Scene() {
    fs::create_directories(temporary);
    setenv("WARPWRIGHT_RUNNER", WARPWRIGHT_BINARY_DIR "/warpwright-runner", 1);
  }
  ~Scene() {
    end_services(temporary);
    unsetenv("WARPWRIGHT_RUNNER");
  }
  std::vector<std::string> environment() const {
    return {"XDG_CACHE_HOME=" + cache.string(), "TMPDIR=" + temporary.string(), "CUDA_VISIBLE_DEVICES="};
  }
  /// With the fake worker in the CPU worker's place.
  std::vector<std::string> fake_environment() const {
    auto environment = this->environment();
    environment.push_back("WARPWRIGHT_CPU_WORKER=" WARPWRIGHT_TEST_DIR "/runner_fake_worker");
    return environment;
  }
  /// Words for a script: sets the variables.
  std::string variables(const std::vector<std::string> &environment) const {
    std::string text = "env";
    for (const std::string &one : environment)
      text += " '" + one + "'";
    return text;
  }
  std::vector<fs::path> installed() const {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(cache / "warpwright" / "runner", error))
      found.push_back(entry.path());
    return found;
  }
};

void check_verified(const Result<model::Verdict> &verdict) {
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  INFO(verdict->message);
  CHECK(verdict->outcome == Outcome::Verified);
}

Result<model::Verdict> ask_fake(BlockingClient &client) {
  return client.verify(fake_task(), fake_plan("square"), fake_options(), {});
}

std::string why_not(const std::string &url) {
  const auto client = BlockingClient::connect(url);
  return client ? "it connected" : describe(client.error());
}

TEST_CASE("a runner is copied over ssh once, and verifies there") {
  Scene scene;
  const RunningSshd sshd(scene.folder.path, scene.environment());
  const std::string url = "ssh://gpu-box?cpu=yes";
  {
    const auto client = connect_to(url);
    const auto info = client->info();
    REQUIRE(info.has_value());
    CHECK(info->url == "ssh://gpu-box");
    VerifyOptions options;
    options.device = "cpu";
    const Task task = square_task(4096);
    check_verified(client->verify(task, task.reference, options, {}));
    const auto wrong = client->verify(task, square_candidate("if (i < n) y[i] = x[i];"), options, {});
    REQUIRE(wrong.has_value());
    CHECK(wrong->outcome == Outcome::WrongResult);
  }
  REQUIRE(scene.installed().size() == 1);
  const fs::path program = scene.installed().front() / "warpwright-runner";
  CHECK(scene.installed().front().filename().string().starts_with(version() + "-"));
  CHECK(read_file(program).value() == read_file(WARPWRIGHT_BINARY_DIR "/warpwright-runner").value());
  CHECK(fs::exists(scene.installed().front() / "torch" / "host.py"));
  const auto copied_at = fs::last_write_time(program);
  // The second connection, here through a jump host of the user's configuration, finds the copy.
  CHECK(connect_to("ssh://behind?cpu=yes")->info().has_value());
  CHECK(scene.installed().size() == 1);
  CHECK(fs::last_write_time(program) == copied_at);
}

TEST_CASE("a copy that was cut short is not used, and the next connection copies again") {
  Scene scene;
  const RunningSshd sshd(scene.folder.path, scene.fake_environment());
  check_verified(ask_fake(*connect_to("ssh://gpu-box")));
  end_services(scene.temporary);
  const fs::path folder = scene.installed().front();
  fs::remove(folder / "warpwright-runner");
  check_verified(ask_fake(*connect_to("ssh://gpu-box")));
  CHECK(scene.installed() == std::vector{folder});
  CHECK(fs::exists(folder / "warpwright-runner"));
}

TEST_CASE("greetings of the login shell are ignored, and an installed runner is used") {
  Scene scene;
  const RunningSshd sshd(scene.folder.path, scene.fake_environment(),
                         "ForceCommand echo Welcome to gpu-box; printf 'no newline'; eval \"$SSH_ORIGINAL_COMMAND\"\n");
  const auto client = connect_to("ssh://gpu-box?runner=" WARPWRIGHT_BINARY_DIR "/warpwright-runner");
  check_verified(ask_fake(*client));
  CHECK(scene.installed().empty());
}

TEST_CASE("a job outlives the connection and is answered once over the next one") {
  Scene scene;
  RunningSshd sshd(scene.folder.path, scene.fake_environment());
  const auto client = connect_to("ssh://gpu-box");
  BackgroundJob undisturbed(*client, "slow_square", fake_options());
  check_verified(undisturbed.verdict.get());
  const int starts = count(service_logs(scene.temporary), "slow_square starts");
  BackgroundJob job(*client, "slow_square", fake_options());
  REQUIRE(eventually([&] { return job.had("verifying"); }));
  sshd.end_sessions();
  REQUIRE(eventually([&] { return job.had("reconnecting"); }));
  check_verified(job.verdict.get());
  CHECK(job.answers == 1);
  CHECK(count(service_logs(scene.temporary), "slow_square starts") == 2 * starts);
  // A host that is away for a while is tried again.
  BackgroundJob later(*client, "slow_square", fake_options());
  REQUIRE(eventually([&] { return later.had("verifying"); }));
  sshd.stop();
  REQUIRE(eventually([&] { return later.had("reconnecting"); }));
  sshd.start();
  check_verified(later.verdict.get());
}

TEST_CASE("a client that leaves cancels its job there") {
  Scene scene;
  const RunningSshd sshd(scene.folder.path, scene.fake_environment());
  {
    const auto client = connect_to("ssh://gpu-box");
    BackgroundJob endless(*client, "hang", fake_options());
    REQUIRE(eventually([&] { return endless.had("verifying"); }));
    endless.stop.request_stop();
    CHECK_FALSE(endless.verdict.get().has_value());
  }
  check_verified(ask_fake(*connect_to("ssh://gpu-box"))); // the only device is free
}

TEST_CASE("two clients share one service") {
  Scene scene;
  const RunningSshd sshd(scene.folder.path, scene.fake_environment());
  const auto one = connect_to("ssh://gpu-box"), other = connect_to("ssh://gpu-box");
  check_verified(ask_fake(*one));
  check_verified(ask_fake(*other));
  std::size_t sockets = 0;
  for (const auto &entry : fs::recursive_directory_iterator(scene.temporary))
    sockets += entry.path().extension() == ".sock";
  CHECK(sockets == 1);
}

TEST_CASE("a service that nobody uses ends by itself") {
  const TemporaryFolder folder;
  const fs::path socket = folder.path / "s";
  auto service = Process::spawn({WARPWRIGHT_BINARY_DIR "/warpwright-runner", "serve", "--socket", socket, "--idle-exit", "1"},
                                {.environment = {"WARPWRIGHT_CPU_WORKER=" WARPWRIGHT_TEST_DIR "/runner_fake_worker"}});
  REQUIRE(service.has_value());
  // The socket's file is there before the service listens.
  REQUIRE(eventually([&] { return BlockingClient::connect("unix:" + socket.string()).has_value(); }));
  CHECK(connect_to("unix:" + socket.string())->info().has_value());
  const ExitStatus status = service->wait();
  CHECK(status.code == 0);
  CHECK(status.signal == 0);
}

TEST_CASE("what is wrong on the way is told in a sentence") {
  Scene scene;
  const RunningSshd sshd(scene.folder.path, scene.environment());
  CHECK(why_not("ssh://stranger").starts_with("the host key of stranger is not known here. Connect once in a terminal"));
  CHECK(why_not("ssh://foreign").contains("does not accept this login: "));
  CHECK(why_not("ssh://foreign").contains("ssh-add"));
  CHECK(why_not("ssh://closed").starts_with("closed cannot be reached: "));
  CHECK(why_not("ssh://gpu-box?runner=/nonexistent/runner") ==
        "gpu-box has no program /nonexistent/runner. Correct ?runner=, or leave it out to have the runner copied");
  // A runner without the CPU backend on a machine without a GPU.
  const auto info = connect_to("ssh://gpu-box")->info();
  REQUIRE(info.has_value());
  CHECK(info->devices.empty());
  REQUIRE(!info->notes.empty());
  CHECK(info->notes.front().starts_with("No GPU: "));
  setenv("PATH", "/nonexistent", 1);
  const std::string no_ssh = why_not("ssh://gpu-box");
  CHECK(no_ssh.starts_with("cannot start ssh: "));
}

TEST_CASE("a runner for a newer glibc is refused with both versions") {
  Scene scene;
  const RunningSshd sshd(scene.folder.path, scene.environment());
  std::string program = read_file(WARPWRIGHT_BINARY_DIR "/warpwright-runner").value();
  const std::string needed("GLIBC_2.2.5\0", 12);
  std::size_t replaced = 0;
  for (auto at = program.find(needed); at != std::string::npos; at = program.find(needed, at + 1), ++replaced)
    program.replace(at, needed.size(), std::string("GLIBC_2.999", 11) + '\0');
  REQUIRE(replaced > 0);
  const fs::path newer = scene.folder.path / "newer" / "warpwright-runner";
  fs::create_directories(newer.parent_path());
  std::ofstream(newer) << program;
  fs::permissions(newer, fs::perms::owner_all);
  setenv("WARPWRIGHT_RUNNER", newer.c_str(), 1);
  const std::string why = why_not("ssh://gpu-box");
  CAPTURE(why);
  CHECK(why.starts_with("the runner needs glibc 2.999, "));
  CHECK(why.contains("gpu-box has 2."));
}

/// A fake container program: the words before the image are checked, the command is run.
std::string fake_docker(const std::string &expected, const std::string &run) {
  return "case \"$*\" in '" + expected + "'*) ;; *) echo \"unexpected: $*\" >&2; exit 125;; esac\n"
         "while [ \"$1\" != img ]; do shift; done; shift\nexec " + run + " sh \"$@\"";
}

TEST_CASE("docker:// runs in a container, by a fake docker that runs the command here") {
  Scene scene;
  const std::string words = "run --rm --interactive --entrypoint=sh --gpus=all img -c ";
  scene.programs.add("docker", fake_docker(words, scene.variables(scene.fake_environment())));
  check_verified(ask_fake(*connect_to("docker://img")));
  CHECK(why_not("docker://img?gpus=none").contains("docker ended with exit code 125"));
}

TEST_CASE("a full disk is told, by a fake docker with a small file system") {
  Scene scene;
  if (const auto tried = run_captured({"unshare", "--user", "--map-root-user", "--mount", "true"}, "", kPatience);
      !tried || tried->status.code != 0) {
    MESSAGE("skipped: this machine forbids user namespaces");
    return;
  }
  fs::create_directories(scene.cache);
  const std::string mount = scene.variables(scene.fake_environment()) +
                            " unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=200k none " +
                            scene.cache.string() + " && exec \"$@\"' x";
  scene.programs.add("docker", fake_docker("run --rm --interactive --entrypoint=sh --gpus=all img -c ", mount));
  const std::string why = why_not("docker://img");
  CAPTURE(why);
  CHECK(why.starts_with("there is no space for the runner in " + (scene.cache / "warpwright" / "runner").string()));
}

TEST_CASE("slurm:// waits for its allocation here and on a login host, by a fake srun") {
  Scene scene;
  // The login host has the same programs.
  auto environment = scene.fake_environment();
  environment.push_back("PATH=" + std::string(std::getenv("PATH")));
  const RunningSshd sshd(scene.folder.path, environment);
  // As srun does, it reports the queue on stderr.
  scene.programs.add("srun", "[ \"$1 $2 $3\" = '--ntasks=1 --unbuffered --job-name=warpwright' ] || exit 125\n"
                             "echo 'srun: job 7 queued and waiting for resources' >&2\n"
                             "while [ \"$1\" != sh ]; do shift; done\nexec " +
                                 scene.variables(scene.fake_environment()) + " \"$@\"");
  check_verified(ask_fake(*connect_to("slurm://gpu?gres=gpu:2&time=10")));
  check_verified(ask_fake(*connect_to("slurm://gpu?host=gpu-box")));
}

TEST_CASE("kubectl:// runs in a pod, by a fake kubectl") {
  Scene scene;
  scene.programs.add("kubectl", "[ \"$*\" != \"${*#exec --stdin --quiet --namespace=lab pod-7 -- sh -c }\" ] || exit 125\n"
                                "while [ \"$1\" != -- ]; do shift; done; shift\nexec " +
                                    scene.variables(scene.fake_environment()) + " \"$@\"");
  check_verified(ask_fake(*connect_to("kubectl://lab/pod-7")));
  CHECK(why_not("kubectl://other/pod-7").contains("kubectl ended with exit code 125"));
}

} // namespace
} // namespace warpwright::runner
