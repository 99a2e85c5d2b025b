// Keys by ssh-keygen; the server by its absolute path, which it demands.
#include "tests/runner/sshd_fixture.h"
#include "support/files.h"
#include "tests/runner/process_tree.h"

#include <arpa/inet.h>
#include <csignal>
#include <fstream>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace warpwright::runner::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char *kSshd = "/usr/sbin/sshd", *kSsh = "/usr/bin/ssh";

std::string free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  socklen_t size = sizeof address;
  REQUIRE(bind(descriptor, reinterpret_cast<sockaddr *>(&address), size) == 0);
  getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &size);
  close(descriptor);
  return std::to_string(ntohs(address.sin_port));
}

void make_key(const fs::path &path) {
  const auto made = run_captured({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path}, "",
                                 kPatience);
  REQUIRE_MESSAGE((made && made->status.code == 0), (made ? made->errors : describe(made.error())));
}

void write(const fs::path &path, const std::string &text) {
  std::ofstream(path) << text;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

std::string user_name() { return getpwuid(geteuid())->pw_name; }

/// Hosts: gpu-box; behind, through gpu-box; stranger, whose key is not known; foreign, where our
/// key is not accepted; closed, where nobody listens.
std::string client_config(const fs::path &folder, const std::string &port) {
  const std::string common = "  HostName 127.0.0.1\n  HostKeyAlias gpu-box\n  User " + user_name() + "\n  Port ";
  const std::string key = "\n  IdentityFile " + (folder / "user_key").string() + "\n";
  return "Host gpu-box\n" + common + port + key + "Host behind\n  ProxyJump gpu-box\n" + common + port + key +
         "Host stranger\n  HostName 127.0.0.1\n  Port " + port + "\n  UserKnownHostsFile /dev/null\n" + key +
         "Host foreign\n" + common + port + "\n  IdentityFile " + (folder / "other_key").string() + "\n" +
         "Host closed\n" + common + free_port() + key +
         "Host *\n  IdentitiesOnly yes\n  IdentityAgent none\n  GlobalKnownHostsFile /dev/null\n"
         "  StrictHostKeyChecking yes\n  UserKnownHostsFile " + (folder / "known_hosts").string() + "\n";
}

} // namespace

RunningSshd::RunningSshd(const fs::path &folder, const std::vector<std::string> &environment,
                         const std::string &more)
    : folder_(folder), port_(free_port()) {
  for (const char *key : {"host_key", "user_key", "other_key"})
    make_key(folder / key);
  fs::copy(folder / "user_key.pub", folder / "authorized_keys");
  const std::string host_key = read_file(folder / "host_key.pub").value();
  write(folder / "known_hosts", "gpu-box " + host_key);
  write(folder / "ssh_config", client_config(folder, port_));
  std::string set_env;
  for (const std::string &one : environment)
    set_env += " " + one;
  write(folder / "sshd_config",
        "Port " + port_ + "\nListenAddress 127.0.0.1\nHostKey " + (folder / "host_key").string() +
            "\nAuthorizedKeysFile " + (folder / "authorized_keys").string() +
            "\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nMaxStartups 100\n"
            "AllowTcpForwarding yes\n" + (set_env.empty() ? "" : "SetEnv" + set_env + "\n") + more);
  if (geteuid() == 0)
    fs::create_directories("/run/sshd"); // a server that root starts wants it
  start();
}

RunningSshd::~RunningSshd() { stop(); }

void RunningSshd::start() {
  auto process = Process::spawn({kSshd, "-D", "-f", folder_ / "sshd_config", "-E", folder_ / "sshd.log"});
  REQUIRE_MESSAGE(process.has_value(), "sshd does not start: is openssh-server installed?");
  process_ = std::move(*process);
  REQUIRE_MESSAGE(eventually([&] {
                    const int descriptor = connect_tcp("127.0.0.1:" + port_);
                    if (descriptor >= 0)
                      close(descriptor);
                    return descriptor >= 0;
                  }),
                  log());
}

void RunningSshd::stop() {
  if (!process_)
    return;
  const auto sessions = this->sessions(); // they outlive the listener
  process_->kill(SIGTERM);
  process_->wait();
  process_.reset();
  for (const pid_t pid : sessions)
    kill(pid, SIGKILL);
}

std::vector<pid_t> RunningSshd::sessions() const {
  std::vector<pid_t> found;
  for (const pid_t pid : descendants(process_->pid()))
    if (command_of(pid).find(" sshd: ") != std::string::npos)
      found.push_back(pid);
  return found;
}

void RunningSshd::end_sessions() {
  for (const pid_t pid : sessions())
    kill(pid, SIGKILL);
}

std::string RunningSshd::log() const { return read_file(folder_ / "sshd.log").value_or(""); }

ProgramsOnPath::ProgramsOnPath(const fs::path &folder)
    : folder_(folder / "programs"), before_(std::getenv("PATH")) {
  fs::create_directories(folder_);
  setenv("PATH", (folder_.string() + ":" + before_).c_str(), 1);
  add("ssh", std::string("exec ") + kSsh + " -F " + (folder / "ssh_config").string() + " \"$@\"");
}

ProgramsOnPath::~ProgramsOnPath() { setenv("PATH", before_.c_str(), 1); }

void ProgramsOnPath::add(const std::string &name, const std::string &shell_script) {
  std::ofstream(folder_ / name) << "#!/bin/sh\n" << shell_script << "\n";
  fs::permissions(folder_ / name, fs::perms::owner_all);
}

namespace {

std::vector<fs::path> files_of_services(const fs::path &temporary_folder, const char *extension) {
  std::vector<fs::path> found;
  std::error_code error;
  const fs::path folder = temporary_folder / ("warpwright-" + std::to_string(geteuid()));
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == extension)
      found.push_back(entry.path());
  return found;
}

} // namespace

void end_services(const fs::path &temporary_folder) {
  for (const fs::path &path : files_of_services(temporary_folder, ".sock")) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ucred peer{};
    socklen_t size = sizeof peer;
    if (connect(descriptor, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0 &&
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 1)
      kill(peer.pid, SIGTERM);
    close(descriptor);
  }
}

std::string service_logs(const fs::path &temporary_folder) {
  std::string text;
  for (const fs::path &path : files_of_services(temporary_folder, ".log"))
    text += read_file(path).value_or("");
  return text;
}

} // namespace warpwright::runner::testing
