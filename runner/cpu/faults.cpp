// Signal handlers on a separate stack, and a deadline timer that signals only this thread.
#include "runner/cpu/faults.h"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <ctime>
#include <memory>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __aarch64__
#include <asm/sigcontext.h>
#endif

namespace warpwright::runner::cpu {
namespace {

constexpr std::size_t kSignalStackBytes = 64 * 1024;

struct GuardState {
  std::atomic<pid_t> thread{0}; ///< the thread that runs kernel code; 0 outside guarded()
  sigjmp_buf jump;
  Fault pending;
  bool has_pending = false;
  int signal = 0; ///< the signal that ended the launch, or 0
  std::uintptr_t address = 0;
  bool write = false;
};
GuardState state;

pid_t thread_id() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

/// Whether the access that faulted was a write.
bool is_write(const ucontext_t &context) {
#ifdef __x86_64__
  return context.uc_mcontext.gregs[REG_ERR] & 2; // page fault error code (Intel SDM vol. 3, 4.7)
#else
  // The kernel appends records to the registers; one is the syndrome, whose bit 6 is WnR (Arm ARM,
  // ESR_EL1, data abort).
  const auto *record = reinterpret_cast<const char *>(context.uc_mcontext.__reserved);
  for (const char *end = record + sizeof context.uc_mcontext.__reserved; record < end;) {
    const auto *head = reinterpret_cast<const _aarch64_ctx *>(record);
    if (head->magic == ESR_MAGIC)
      return reinterpret_cast<const esr_context *>(record)->esr & 1u << 6;
    if (head->size == 0)
      break;
    record += head->size;
  }
  return false;
#endif
}

void on_signal(int signal, siginfo_t *info, void *raw_context) {
  if (state.thread.load() != thread_id()) {
    if (signal == SIGALRM)
      return;
    // Not kernel code: with the default action, the repeated instruction ends the process.
    ::signal(signal, SIG_DFL);
    return;
  }
  state.signal = signal;
  state.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  state.write = is_write(*static_cast<const ucontext_t *>(raw_context));
  siglongjmp(state.jump, 1);
}

/// Installs the signal handlers and their stack for the lifetime of the object.
class SignalScope {
public:
  SignalScope() : stack_(std::make_unique<char[]>(kSignalStackBytes)) {
    stack_t fresh{};
    fresh.ss_sp = stack_.get();
    fresh.ss_size = kSignalStackBytes;
    ::sigaltstack(&fresh, &old_stack_);
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (std::size_t i = 0; i < std::size(kSignals); ++i)
      ::sigaction(kSignals[i], &action, &old_actions_[i]);
  }
  ~SignalScope() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i)
      ::sigaction(kSignals[i], &old_actions_[i], nullptr);
    ::sigaltstack(&old_stack_, nullptr);
  }
  SignalScope(const SignalScope &) = delete;

private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM};
  std::unique_ptr<char[]> stack_;
  stack_t old_stack_{};
  struct sigaction old_actions_[std::size(kSignals)];
};

/// Timer that sends SIGALRM to this thread repeatedly once the deadline has passed.
class DeadlineTimer {
public:
  explicit DeadlineTimer(std::chrono::steady_clock::time_point deadline) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = thread_id();
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0)
      return;
    active_ = true;
    auto left = std::max<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now(),
                                                   std::chrono::microseconds(1));
    itimerspec when{};
    when.it_value.tv_sec = left.count() / 1'000'000'000;
    when.it_value.tv_nsec = left.count() % 1'000'000'000;
    when.it_interval.tv_nsec = 20'000'000; // repeats in case the first precedes the kernel's start
    ::timer_settime(timer_, 0, &when, nullptr);
  }
  ~DeadlineTimer() {
    if (active_)
      ::timer_delete(timer_);
  }
  DeadlineTimer(const DeadlineTimer &) = delete;

private:
  timer_t timer_{};
  bool active_ = false;
};

Fault signal_fault(const GuardOptions &options) {
  Fault result;
  result.kind = Fault::Kind::Crash;
  switch (state.signal) {
  case SIGALRM:
    result.kind = Fault::Kind::Timeout;
    result.message = "the kernel did not end before the deadline";
    return result;
  case SIGFPE:
    result.message = "integer division overflow or by zero";
    return result;
  case SIGILL:
  case SIGTRAP: // on Arm
    result.message = "the kernel reached code that cannot be reached";
    return result;
  default:
    result.device_lost = true;
    result.message = std::string("illegal ") + (state.write ? "write" : "read");
    if (options.describe_address)
      result.message += " " + options.describe_address(options.context, state.address);
    return result;
  }
}

/// Separate from guarded(), so that the frame that siglongjmp returns to has no object with a
/// destructor.
bool run(void (*body)(void *), void *argument) {
  // A signal before the last store jumps back to this frame, which is still active then.
  volatile bool finished = false;
  if (sigsetjmp(state.jump, 1) == 0) {
    state.thread.store(thread_id());
    body(argument);
    finished = true;
  }
  state.thread.store(0);
  return finished;
}

} // namespace

std::optional<Fault> guarded(void (*body)(void *), void *argument, const GuardOptions &options) {
  state.signal = 0;
  state.has_pending = false;
  bool finished = false;
  {
    SignalScope signals;
    std::optional<DeadlineTimer> timer;
    if (options.deadline)
      timer.emplace(*options.deadline);
    finished = run(body, argument);
  }
  if (finished)
    return std::nullopt;
  if (state.has_pending)
    return std::move(state.pending);
  return signal_fault(options);
}

void record_fault(Fault::Kind kind, std::string message) {
  if (state.has_pending)
    return;
  state.pending = Fault{kind, std::move(message), {}, false};
  state.has_pending = true;
}

void leave_launch() { siglongjmp(state.jump, 1); }

} // namespace warpwright::runner::cpu
