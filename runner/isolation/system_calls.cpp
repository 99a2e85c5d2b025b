// System call filters. Workers without a driver get an allow list: the calls that Clang, LLVM,
// NVRTC, Asio and glibc were seen to make. Other calls fail with EPERM, and calls that no compiler
// makes end the process by SIGSYS, which the service reports as a suspected cheat. The calls of the
// CUDA driver differ between versions, so its workers get a deny list of dangerous calls, which
// fail with EPERM. Calls of other architectures (32 bit, x32) end the process.
#include "runner/isolation/system_calls.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

// Calls are listed by name, because libseccomp may be older than a call: unknown names are ignored.

constexpr const char *kStarts = "execve execveat fork vfork";
/// Calls that only an attack makes in a worker, and no driver.
constexpr const char *kAttacks = R"(
  ptrace process_vm_readv process_vm_writev process_madvise
  mount umount2 move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr
  pivot_root chroot unshare setns bpf perf_event_open userfaultfd keyctl add_key
  request_key kexec_load kexec_file_load init_module finit_module delete_module reboot
  swapon swapoff acct quotactl quotactl_fd iopl ioperm kcmp io_uring_setup
  io_uring_enter io_uring_register open_by_handle_at pidfd_getfd
  fanotify_init settimeofday clock_settime clock_adjtime adjtimex sethostname
  setdomainname syslog vhangup nfsservctl uselib lookup_dcookie)";
/// Further ones, which a driver makes only while it starts.
constexpr const char *kLaterAttacks = R"(
  modify_ldt pidfd_send_signal personality setuid setgid setreuid setregid setresuid
  setresgid setfsuid setfsgid setgroups capset mknod mknodat migrate_pages move_pages)";
/// Calls that slow other processes, or favor this one.
constexpr const char *kScheduling = R"(
  sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set)";
/// The call that connects to a socket.
constexpr const char *kReachesOut = "connect";
/// Calls that offer a socket. The driver's start makes one (@cuda-uvmfd-...) and fails if it may
/// not.
constexpr const char *kOffers = "bind listen";

/// Memory, threads, signals, time, reading files, and the pipes to the service.
constexpr const char *kNeeded = R"(
  read readv pread64 preadv write writev close close_range fstat stat lstat newfstatat
  statx statfs fstatfs lseek access faccessat faccessat2 readlink readlinkat getcwd
  getdents64 fadvise64 mmap mprotect munmap mremap madvise mincore brk membarrier futex
  futex_waitv set_robust_list get_robust_list rseq set_tid_address sched_yield
  sched_getaffinity sched_getparam sched_getscheduler getcpu rt_sigaction rt_sigprocmask
  rt_sigreturn rt_sigpending rt_sigtimedwait sigaltstack restart_syscall pause
  timer_create timer_settime timer_gettime timer_delete timer_getoverrun nanosleep
  clock_nanosleep clock_gettime clock_getres gettimeofday time getpid gettid getppid
  getuid geteuid getgid getegid getresuid getresgid getgroups uname sysinfo getrusage
  getrlimit getrandom epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd2
  timerfd_create timerfd_settime timerfd_gettime poll ppoll select pselect6 fcntl dup dup2
  dup3 pipe2 exit exit_group arch_prctl)";

/// Calls for the compiler's cache and temporary files, which Landlock restricts further.
constexpr const char *kWritesFiles = R"(
  open openat creat mkdir mkdirat rename renameat renameat2 unlink unlinkat rmdir
  ftruncate pwrite64 pwritev fsync fdatasync flock fchmod umask memfd_create setpriority
  getpriority sched_setscheduler)";

class Filter {
public:
  explicit Filter(std::uint32_t default_action) : context_(seccomp_init(default_action)) {}
  Filter(const Filter &) = delete;
  ~Filter() {
    if (context_)
      seccomp_release(context_);
  }

  /// @param names separated by spaces
  void add(std::uint32_t action, const char *names) {
    std::istringstream calls(names);
    for (std::string call; calls >> call;)
      add_if(action, call.c_str(), {});
  }
  void add_if(std::uint32_t action, const char *call, std::initializer_list<scmp_arg_cmp> when) {
    const int number = seccomp_syscall_resolve_name(call);
    if (number < 0 || !context_)
      return;
    const int status = seccomp_rule_add_array(context_, action, number,
                                              static_cast<unsigned>(when.size()), when.begin());
    if (status != 0 && status != -EEXIST && problem_.empty())
      problem_ = std::string(call) + ": " + std::strerror(-status);
  }

  /// Loads the filter. @return empty, or why it is not in force
  std::string load() {
    if (!context_)
      return "libseccomp gave no filter";
    if (!problem_.empty())
      return problem_;
    seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1);
    const int status = seccomp_load(context_);
    return status == 0 ? "" : std::strerror(-status);
  }

private:
  scmp_filter_ctx context_;
  std::string problem_;
};

constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
constexpr scmp_datum_t kThread = CLONE_VM | CLONE_THREAD;
/// CLONE_NEWTIME is missing: its bit is part of clone's signal number, so only unshare and clone3
/// accept it.
constexpr scmp_datum_t kNamespaces[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                        CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};
/// ioctl's requests are unsigned int, and the kernel ignores higher bits.
constexpr scmp_datum_t kRequestBits = 0xffffffff, kSocketType = 0xf;

/// The flags of clone3 are in memory, where a filter cannot read them, so clone3 is refused and
/// glibc falls back to clone.
void refuse_namespaces(Filter &filter, std::uint32_t action) {
  for (const scmp_datum_t flag : kNamespaces)
    filter.add_if(action, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag)});
  filter.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
}

std::string allow_what_is_needed(WorkerKind kind) {
  Filter filter(kRefuse);
  filter.add(SCMP_ACT_ALLOW, kNeeded);
  for (const char *attacks : {kStarts, kAttacks, kLaterAttacks})
    filter.add(SCMP_ACT_KILL_PROCESS, attacks);
  // Threads are allowed, processes are not.
  scmp_datum_t bits = kThread;
  for (const scmp_datum_t flag : kNamespaces)
    bits |= flag;
  filter.add_if(SCMP_ACT_ALLOW, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, bits, kThread)});
  filter.add_if(SCMP_ACT_KILL_PROCESS, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)});
  filter.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  // A library's AF_UNIX socket for a name service fails with EPERM, which it tolerates. Nothing
  // here uses IP.
  filter.add_if(SCMP_ACT_KILL_PROCESS, "socket", {SCMP_A0(SCMP_CMP_NE, AF_UNIX)});
  filter.add_if(SCMP_ACT_ALLOW, "tgkill",
                {SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid()))});
  filter.add_if(SCMP_ACT_ALLOW, "prlimit64", {SCMP_A2(SCMP_CMP_EQ, 0)});
  for (const int option : {PR_SET_NAME, PR_GET_NAME, 0x53564d41 /* PR_SET_VMA */})
    filter.add_if(SCMP_ACT_ALLOW, "prctl",
                  {SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(option))});
  for (const unsigned long request :
       {0x5401ul /* TCGETS */, 0x5421ul /* FIONBIO */, 0x541Bul /* FIONREAD */})
    filter.add_if(SCMP_ACT_ALLOW, "ioctl",
                  {SCMP_A1(SCMP_CMP_MASKED_EQ, kRequestBits, request)});
  if (kind == WorkerKind::Compiler) {
    filter.add(SCMP_ACT_ALLOW, kWritesFiles);
  } else {
    constexpr scmp_datum_t kWrites = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
    filter.add_if(SCMP_ACT_ALLOW, "open", {SCMP_A1(SCMP_CMP_MASKED_EQ, kWrites, O_RDONLY)});
    filter.add_if(SCMP_ACT_ALLOW, "openat", {SCMP_A2(SCMP_CMP_MASKED_EQ, kWrites, O_RDONLY)});
  }
  return filter.load();
}

std::string deny_what_is_dangerous(WorkerKind kind, FilterPart part) {
  Filter filter(SCMP_ACT_ALLOW);
  filter.add(kRefuse, kAttacks);
  refuse_namespaces(filter, kRefuse);
  // Allowed are AF_UNIX stream sockets, which cannot connect. Datagrams could name any recipient.
  filter.add_if(kRefuse, "socket", {SCMP_A0(SCMP_CMP_NE, AF_UNIX)});
  for (const char *call : {"socket", "socketpair"})
    for (const scmp_datum_t type : {SOCK_DGRAM, SOCK_RAW}) // raw AF_UNIX sockets are datagrams
      filter.add_if(kRefuse, call, {SCMP_A1(SCMP_CMP_MASKED_EQ, kSocketType, type)});
  // The same error as without a driver's daemon.
  filter.add(SCMP_ACT_ERRNO(ECONNREFUSED), kReachesOut);
  for (const unsigned long request : {0x5412ul /* TIOCSTI */, 0x541Cul /* TIOCLINUX */})
    filter.add_if(kRefuse, "ioctl", {SCMP_A1(SCMP_CMP_MASKED_EQ, kRequestBits, request)});
  if (part == FilterPart::ForStart)
    return filter.load();
  filter.add(kRefuse, kLaterAttacks);
  filter.add(kRefuse, kOffers);
  if (kind == WorkerKind::Candidate) {
    filter.add(kRefuse, kScheduling);
    filter.add_if(kRefuse, "prlimit64", {SCMP_A0(SCMP_CMP_NE, 0)});
  }
  if (!starts_programs(kind)) {
    filter.add(kRefuse, kStarts);
    filter.add_if(kRefuse, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)});
    for (const char *call : {"kill", "tgkill"})
      filter.add_if(kRefuse, call, {SCMP_A0(SCMP_CMP_NE, static_cast<scmp_datum_t>(getpid()))});
    filter.add(kRefuse, "tkill");
  }
  return filter.load();
}

} // namespace

IsolationLayer filter_system_calls(WorkerKind kind, FilterPart part) {
  const bool driver = uses_driver(kind);
  const std::string problem =
      driver ? deny_what_is_dangerous(kind, part) : allow_what_is_needed(kind);
  if (!problem.empty())
    return {"system calls", false, "the filter is not in force: " + problem};
  std::string detail = "seccomp allow list; attacks end the process";
  if (driver)
    detail = std::string("seccomp deny list: no sockets that reach out, no tracing, no mounts, no "
                         "namespaces, no other user") +
             (starts_programs(kind) ? "; compilers may be started"
                                    : ", no new programs or processes") +
             (kind == WorkerKind::Candidate ? ", no scheduling" : "");
  return {"system calls", true, detail};
}

} // namespace warpwright::runner
