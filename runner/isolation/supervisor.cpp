// The supervisor process: its programs, their requests, and their end.
#include "runner/isolation/supervisor.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kLastMomentMs = 200;
constexpr std::size_t kLongestRequest = 4096, kMostDescriptors = 3;
/// Places of the descriptors of a request in a program: stdin, stdout, and shared memory.
constexpr int kPlaces[] = {0, 1, 3}, kBeyondPlaces = 16;

/// Replaces this process by the program.
[[noreturn]] void execute(const EnclosedProgram &program) {
  std::vector<std::string> words = program.command;
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvpe(arguments[0], arguments.data(), environ);
  std::cerr << "cannot start " << words[0] << ": " << std::strerror(errno) << std::endl;
  std::_Exit(127);
}

/// Whether isolation is on; exits if the setting is invalid.
bool must_be_on_or_off() {
  const auto on = is_isolation_on();
  if (on)
    return *on;
  std::cerr << describe(on.error()) << std::endl;
  std::_Exit(2);
}

/// Makes a folder inside the worker's private directory, which the service removes in any case.
fs::path make_folder() {
  const char *parent = std::getenv(kPrivateDirectoryVariable);
  std::error_code error;
  std::string name =
      ((parent ? fs::path(parent) : fs::temp_directory_path(error)) / "candidate-XXXXXX").string();
  return mkdtemp(name.data()) ? name : "";
}

/// Environment variables set for the duration of a fork.
class Variables {
public:
  explicit Variables(const fs::path &folder) {
    if (!folder.empty())
      for (const char *name : {kPrivateDirectoryVariable, "TMPDIR"}) {
        const char *value = std::getenv(name);
        before_.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
        setenv(name, folder.c_str(), 1);
      }
  }
  Variables(const Variables &) = delete;
  ~Variables() {
    for (const auto &[name, value] : before_)
      value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }

private:
  std::vector<std::pair<const char *, std::optional<std::string>>> before_;
};

/// Exit code, or minus the signal's number.
int as_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? -WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

[[noreturn]] void end_as(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none); // the core would be of this process, which has no fault
    const int signal = WTERMSIG(wait_status);
    std::signal(signal, SIG_DFL);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, nullptr);
    raise(signal);
  }
  std::_Exit(WEXITSTATUS(wait_status));
}

int watch_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT})
    sigaddset(&watched, signal);
  sigprocmask(SIG_BLOCK, &watched, nullptr);
  return signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Reads all pending signals. @return whether this process was asked to end
bool was_told_to_end(int signals) {
  bool told = false;
  signalfd_siginfo signal;
  while (::read(signals, &signal, sizeof signal) == sizeof signal)
    told |= signal.ssi_signo == SIGTERM || signal.ssi_signo == SIGINT;
  return told;
}

/// Receives one message. null: none has arrived; nullopt: the socket was closed.
std::optional<json> receive(int socket, std::vector<int> &descriptors) {
  char text[kLongestRequest];
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)];
  iovec piece{text, sizeof text};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return json();
  if (size <= 0)
    return std::nullopt;
  for (cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
      descriptors.resize((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      std::memcpy(descriptors.data(), CMSG_DATA(part), descriptors.size() * sizeof(int));
    }
  return json::parse(text, text + size, nullptr, false);
}

} // namespace

Isolation Supervisor::inside(const Sandbox &sandbox, bool on, std::vector<IsolationLayer> layers) {
  Isolation isolation;
  isolation.kind_ = sandbox.kind;
  isolation.off_ = !on;
  isolation.layers_ = {{"isolation", false, "turned off by WARPWRIGHT_ISOLATION"}};
  if (on)
    isolation.layers_ = settle(sandbox, std::move(layers));
  return isolation;
}

[[noreturn]] void Supervisor::become(const EnclosedProgram &program, bool on,
                                     std::vector<IsolationLayer> layers,
                                     std::vector<int> descriptors, int asker) {
  std::vector<int> kept = {0, 1, 2};
  asker = asker < 0 ? -1 : fcntl(asker, F_DUPFD, kBeyondPlaces);
  for (int &descriptor : descriptors) // move them out of the way first
    descriptor = fcntl(descriptor, F_DUPFD, kBeyondPlaces);
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    ::dup2(descriptors[i], kPlaces[i]);
    kept.push_back(kPlaces[i]);
  }
  if (asker >= 0) {
    setenv(kStarterVariable, std::to_string(asker).c_str(), 1);
    kept.push_back(asker);
  } else {
    unsetenv(kStarterVariable);
  }
  close_others(kept);
  Isolation isolation = inside(program.sandbox, on, std::move(layers));
  if (const auto missing = isolation.missing(); !missing.empty() && !program.sandbox.sees_all) {
    std::cerr << missing << std::endl;
    std::_Exit(2);
  }
  setenv(kEnclosedVariable, to_json(isolation.layers()).dump().c_str(), 1);
  execute(program);
}

Result<Isolation> Supervisor::enclose(const Sandbox &sandbox) {
  const auto on = TRY(is_isolation_on());
  if (!on && programs_.empty())
    return inside(sandbox, false, {});
  const int asker = programs_.empty() ? -1 : open_asker();
  Forked forked = on ? fork_guest(sandbox) : fork_plainly();
  if (forked.guest.is_there())
    serve(std::move(forked.guest));
  if (!forked.inside)
    return fail(std::string("cannot start a process for the worker: ") + std::strerror(errno));
  if (asker >= 0)
    setenv(kStarterVariable, std::to_string(asker).c_str(), 1);
  for (const Asker &open : askers_)
    ::close(open.socket);
  for (const auto &[name, program] : programs_)
    for (const int descriptor : program.descriptors)
      ::close(descriptor);
  return inside(sandbox, on, std::move(*forked.inside));
}

void Supervisor::run(EnclosedProgram program) {
  const bool on = must_be_on_or_off() && !program.is_open;
  if (program.prepare)
    program.prepare(program);
  const int asker = programs_.empty() ? -1 : open_asker();
  Forked forked = on ? fork_guest(program.sandbox) : fork_plainly();
  if (forked.guest.is_there())
    serve(std::move(forked.guest));
  if (!forked.inside) {
    std::cerr << "cannot start a process for the worker: " << std::strerror(errno) << std::endl;
    std::_Exit(2);
  }
  become(program, on, std::move(*forked.inside), {}, asker);
}

int Supervisor::open_asker() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return -1;
  askers_.emplace_back().socket = ends[0];
  return ends[1];
}

void Supervisor::serve(Guest worker) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int signals = watch_signals();
  std::vector<int> kept = {2, signals, worker.control()};
  for (const Asker &asker : askers_)
    kept.push_back(asker.socket);
  for (const auto &[name, program] : programs_)
    kept.insert(kept.end(), program.descriptors.begin(), program.descriptors.end());
  close_all_but(kept);
  bool told = false;
  std::optional<int> status;
  while (!told && !(status = worker.poll())) {
    std::vector<pollfd> wanted = {{signals, POLLIN, 0}, {worker.control(), POLLIN, 0}};
    for (const Asker &asker : askers_)
      wanted.push_back({asker.socket, POLLIN, 0});
    ::poll(wanted.data(), wanted.size(), -1);
    told = was_told_to_end(signals);
    for (std::size_t i = 2; i < wanted.size(); ++i)
      if (wanted[i].revents)
        on_request(wanted[i].fd);
  }
  for (Asker &asker : askers_)
    asker.end(false);
  const int ended = worker.end();
  kill_descendants();
  end_as(told ? SIGKILL : ended);
}

void Supervisor::on_request(int socket) {
  const auto asker = std::ranges::find(askers_, socket, &Asker::socket);
  std::vector<int> given;
  const auto request = receive(socket, given);
  if (!request) {
    asker->end(false);
    ::close(socket);
    askers_.erase(asker);
  } else if (request->is_object()) {
    const std::string text = answer(*asker, *request, given).dump();
    ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  for (const int descriptor : given)
    ::close(descriptor);
}

json Supervisor::answer(Asker &asker, const json &request, std::vector<int> &given) {
  const auto flag = [&](const char *name) { return request.value(name, json()) == true; };
  if (request.contains("start"))
    return start(asker, request, given);
  if (request.contains("freeze")) {
    const auto freezing = asker.guest.freeze(flag("freeze"));
    return {{"by", freezing.by}, {"woke", freezing.woke}};
  }
  if (request.contains("end"))
    return {{"status", as_status(asker.end(flag("end")))}};
  return {{"error", "a supervisor knows start, freeze and end"}};
}

json Supervisor::start(Asker &asker, const json &request, std::vector<int> &given) {
  const auto named = programs_.find(request["start"].is_string() ? request["start"] : json(""));
  if (named == programs_.end())
    return {{"error", "there is no such program"}};
  asker.end(!asker.kept.empty());
  EnclosedProgram program = named->second;
  program.sandbox.opens_gpu &= request.value("opens_gpu", json()) != false;
  program.sandbox.is_nice = !program.sandbox.opens_gpu;
  const json size = request.value("size", json(0));
  for (std::string &word : program.command)
    if (word == "%SIZE%")
      word = std::to_string(size.is_number_unsigned() ? size.get<std::uint64_t>() : 0);
  std::vector<int> descriptors = program.descriptors.empty() ? given : program.descriptors;
  if (descriptors.size() > std::size(kPlaces))
    return {{"error", "too many descriptors"}};
  if (program.prepare)
    program.prepare(program);
  const bool again = request.value("again", json()) == true && !asker.kept.empty();
  if (program.has_folder)
    asker.folder = again ? std::exchange(asker.kept, {}) : make_folder();
  asker.forget_kept();
  const int further = program.may_ask ? open_asker() : -1;
  const bool on = must_be_on_or_off();
  {
    const Variables variables(asker.folder);
    Forked forked = on ? fork_guest(program.sandbox) : fork_plainly();
    if (forked.inside)
      become(program, on, std::move(*forked.inside), descriptors, further);
    asker.guest = std::move(forked.guest);
  }
  if (further >= 0)
    ::close(further);
  for (const int descriptor : std::exchange(named->second.descriptors, {}))
    ::close(descriptor);
  if (!asker.guest.is_there())
    return {{"error", std::string("cannot start a process: ") + std::strerror(errno)}};
  return {{"pid", asker.guest.pid()}};
}

int Supervisor::Asker::end(bool keeps_folder) {
  guest.poll_for(kLastMomentMs);
  const int status = guest.end();
  guest = Guest();
  if (!folder.empty()) {
    forget_kept();
    kept = std::exchange(folder, {});
  }
  if (!keeps_folder)
    forget_kept();
  return status;
}

void Supervisor::Asker::forget_kept() {
  std::error_code error;
  if (!kept.empty())
    fs::remove_all(std::exchange(kept, {}), error);
}

Result<std::string> output_of(const EnclosedProgram &program) {
  int ends[2];
  const auto on = TRY(is_isolation_on());
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(std::string("cannot make a pipe: ") + std::strerror(errno));
  Forked forked = on ? fork_guest(program.sandbox) : fork_plainly();
  if (forked.inside) {
    ::dup2(ends[1], 1);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    Supervisor::become(program, on, std::move(*forked.inside), {}, -1);
  }
  ::close(ends[1]);
  std::string text;
  char block[4096];
  for (ssize_t count; (count = ::read(ends[0], block, sizeof block)) != 0;) {
    if (count > 0)
      text.append(block, static_cast<std::size_t>(count));
    else if (errno != EINTR)
      break;
  }
  ::close(ends[0]);
  if (!forked.guest.is_there())
    return fail(std::string("cannot start a process: ") + std::strerror(errno));
  if (forked.guest.wait() != 0)
    return fail(program.command[0] + " failed");
  return text;
}

} // namespace warpwright::runner
