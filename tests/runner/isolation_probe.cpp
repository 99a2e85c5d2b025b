// A worker's process with nothing of a worker in it: it enters the isolation of KIND and then does
// one thing, by the system call itself where that is what a break-out would do. Prints what came of
// it: "done", or "refused: reason". A call that ends the process prints nothing.
// usage: runner_isolation_probe KIND ACTION [ARGUMENT]
#include "runner/isolation/isolation.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <iostream>
#include <map>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace warpwright::runner;

namespace {

std::string argument;
pid_t self = 0;

/// As injected machine code does it: no library in between.
long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  if (result < 0 && result > -4096) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}
long address(const void *pointer) { return reinterpret_cast<long>(pointer); }

bool opens(const std::string &path, int flags) {
  const long file = call(SYS_openat, AT_FDCWD, address(path.c_str()), flags, 0600);
  char byte = 0;
  if (file >= 0 && (flags & O_DIRECTORY) == 0 && (flags & O_ACCMODE) == O_RDONLY)
    return call(SYS_read, file, address(&byte), 1) >= 0;
  return file >= 0;
}

bool executes() {
  const char *arguments[] = {"/bin/true", nullptr};
  return call(SYS_execve, address("/bin/true"), address(arguments), 0) == 0;
}

/// The child, if there is one, says nothing.
bool is_parent(long process) {
  if (process == 0)
    std::_Exit(0);
  return process > 0;
}

bool reads_parent_memory() {
  char byte = 0;
  iovec here{&byte, 1}, there{&argument, 1};
  return call(SYS_process_vm_readv, getppid(), address(&here), 1, address(&there), 1, 0) == 1;
}

/// A request that is EPERM was stopped by the filter; /dev/null itself knows no such request.
bool pushes_into_a_terminal() {
  const long file = call(SYS_openat, AT_FDCWD, address("/dev/null"), O_RDWR);
  return call(SYS_ioctl, file, 0x5412 /* TIOCSTI */ | 1l << 32, address("x")) == 0 ||
         errno == ENOTTY;
}

bool reaches_socket(int type) {
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  std::strncpy(place.sun_path, argument.c_str(), sizeof place.sun_path - 1);
  const long made = call(SYS_socket, AF_UNIX, type, 0);
  if (made < 0)
    return false;
  if (type == SOCK_DGRAM)
    return call(SYS_sendto, made, address("x"), 1, 0, address(&place), sizeof place) == 1;
  return call(SYS_connect, made, address(&place), sizeof place) == 0;
}

pid_t argument_as_pid() { return static_cast<pid_t>(std::atoi(argument.c_str())); }

bool binds(pid_t process) {
  std::uint64_t cores[16] = {};
  return call(SYS_sched_getaffinity, 0, sizeof cores, address(cores)) > 0 &&
         call(SYS_sched_setaffinity, process, sizeof cores, address(cores)) == 0;
}

/// Holds this process's output open for a minute, out of its session and away from its parent.
bool leaves_a_daemon() {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0)
      sleep(60);
    std::_Exit(0);
  }
  return child > 0 && waitpid(child, nullptr, 0) == child;
}

/// As many as there may be, each of which holds this process's output open and forks on.
bool explodes() {
  for (int generation = 0; generation < 8; ++generation)
    if (fork() < 0)
      break;
  if (getpid() != self) {
    sleep(60);
    std::_Exit(0);
  }
  return true;
}

bool takes_memory() {
  const std::size_t size = std::strtoull(argument.c_str(), nullptr, 10) << 20;
  void *memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  std::memset(memory, 1, size);
  return true;
}

/// In processes of 32 MB, all of which are there at once.
bool takes_memory_in_parts() {
  const long parts = std::strtol(argument.c_str(), nullptr, 10) / 32;
  argument = "32";
  for (long i = 0; i < parts; ++i)
    if (fork() == 0) {
      if (!takes_memory())
        std::_Exit(1);
      sleep(2);
      std::_Exit(0);
    }
  bool all = true;
  for (int status = 0; wait(&status) > 0;)
    all = all && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return all;
}

bool runs_new_code() {
  // mov eax, 42; ret
  constexpr unsigned char kCode[] = {0xb8, 42, 0, 0, 0, 0xc3};
  void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  std::memcpy(memory, kCode, sizeof kCode);
  return mprotect(memory, 4096, PROT_READ | PROT_EXEC) == 0 &&
         reinterpret_cast<int (*)()>(memory)() == 42;
}

bool starts_a_thread() {
  int seen = 0;
  std::thread([&] { seen = 1; }).join();
  return seen == 1;
}

const std::map<std::string, std::function<bool()>> kActions = {
    {"nothing", [] { return true; }},
    {"thread", starts_a_thread},
    {"jit", runs_new_code},
    {"read", [] { return opens(argument, O_RDONLY); }},
    {"list", [] { return opens(argument, O_RDONLY | O_DIRECTORY); }},
    {"write", [] { return opens(argument, O_WRONLY | O_CREAT); }},
    {"write private",
     [] { return opens(std::string(std::getenv("TMPDIR")) + "/file", O_RDWR | O_CREAT); }},
    {"unlink", [] { return call(SYS_unlinkat, AT_FDCWD, address(argument.c_str()), 0) == 0; }},
    {"internet socket", [] { return call(SYS_socket, AF_INET, SOCK_STREAM) >= 0; }},
    {"netlink socket", [] { return call(SYS_socket, AF_NETLINK, SOCK_RAW) >= 0; }},
    {"unix socket", [] { return call(SYS_socket, AF_UNIX, SOCK_STREAM) >= 0; }},
    {"io_uring",
     [] {
       char parameters[256] = {};
       return call(SYS_io_uring_setup, 1, address(parameters)) >= 0;
     }},
    {"execve", executes},
    {"fork", [] { return is_parent(call(SYS_fork)); }},
    {"clone a process", [] { return is_parent(call(SYS_clone, SIGCHLD)); }},
    {"clone3",
     [] {
       std::uint64_t arguments[11] = {0, 0, 0, 0, SIGCHLD};
       return is_parent(call(SYS_clone3, address(arguments), sizeof arguments));
     }},
    {"ptrace", [] { return call(SYS_ptrace, PTRACE_ATTACH, getppid()) == 0; }},
    {"parent's memory", reads_parent_memory},
    {"parent's memory file",
     [] { return opens("/proc/" + std::to_string(getppid()) + "/mem", O_RDONLY); }},
    {"parent's environment",
     [] { return opens("/proc/" + std::to_string(getppid()) + "/environ", O_RDONLY); }},
    {"signal the parent", [] { return call(SYS_kill, getppid(), 0) == 0; }},
    {"namespace", [] { return call(SYS_unshare, CLONE_NEWUSER) == 0; }},
    {"user namespace of a child", [] { return is_parent(call(SYS_clone, CLONE_NEWUSER | SIGCHLD)); }},
    {"terminal", pushes_into_a_terminal},
    {"stream to a socket", [] { return reaches_socket(SOCK_STREAM); }},
    {"datagram to a socket", [] { return reaches_socket(SOCK_DGRAM); }},
    {"socket pair",
     [] {
       int ends[2];
       return call(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, address(ends)) == 0;
     }},
    {"another's cores", [] { return binds(argument_as_pid()); }},
    {"another's priority",
     [] { return call(SYS_setpriority, PRIO_PROCESS, argument_as_pid(), 19) == 0; }},
    {"signal another", [] { return call(SYS_kill, argument_as_pid(), 0) == 0; }},
    {"own cores", [] { return binds(0); }},
    {"own priority", [] { return call(SYS_setpriority, PRIO_PROCESS, 0, 19) == 0; }},
    {"own scheduler",
     [] {
       const int parameter = 0;
       return call(SYS_sched_setscheduler, 0, SCHED_BATCH, address(&parameter)) == 0;
     }},
    {"daemon", leaves_a_daemon},
    {"daemon, and stay",
     [] {
       if (!leaves_a_daemon())
         return false;
       std::cout << "done" << std::endl;
       sleep(30);
       return true;
     }},
    {"bomb", explodes},
    {"memory", takes_memory},
    {"memory in parts", takes_memory_in_parts},
    {"user", [] { return std::to_string(getuid()) == argument; }},
    {"mount",
     [] { return call(SYS_mount, address("none"), address("/tmp"), address("tmpfs")) == 0; }},
    {"become root",
     [] {
       return call(SYS_setresuid, 0, 0, 0) == 0 && geteuid() == 0 && opens("/etc/shadow", O_RDONLY);
     }},
    {"bpf", [] { return call(SYS_bpf, 0) >= 0; }},
    {"performance counters",
     [] {
       std::uint32_t attribute[32] = {1, sizeof attribute};
       return call(SYS_perf_event_open, address(attribute), 0, -1, -1) >= 0;
     }},
    {"key",
     [] { return call(SYS_add_key, address("user"), address("k"), address("v"), 1, -2) >= 0; }},
    {"raise a limit",
     [] {
       const std::uint64_t limits[2] = {1, ~0ull};
       return call(SYS_prlimit64, 0, 4 /* RLIMIT_CORE */, address(limits), 0) == 0;
     }},
    {"old system call table",
     [] {
       long result = 0;
       asm volatile("int $0x80" : "=a"(result) : "a"(20 /* getpid */) : "memory");
       return result > 0;
     }},
};

} // namespace

int main(int count, char **values) {
  Sandbox sandbox;
  for (const WorkerKind kind : kWorkerKinds)
    if (std::strcmp(values[1], name(kind)) == 0)
      sandbox.kind = kind;
  if (count > 3)
    argument = values[3];
  auto isolation = Isolation::enter(sandbox);
  if (!isolation) {
    std::cout << describe(isolation.error()) << std::endl;
    return 2;
  }
  isolation->seal();
  self = getpid();
  if (const auto missing = isolation->missing(); !missing.empty()) {
    std::cout << missing << std::endl;
    std::_Exit(2);
  }
  if (std::strcmp(values[2], "layers") == 0)
    std::cout << to_json(isolation->layers()).dump() << std::endl;
  else if (kActions.at(values[2])())
    std::cout << "done" << std::endl;
  else
    std::cout << "refused: " << std::strerror(errno) << std::endl;
  std::_Exit(0);
}
