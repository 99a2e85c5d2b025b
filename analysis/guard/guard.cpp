// Pool of threads with large stacks, with LLVM's crash-recovery context around each job and the
// error messages; see guard.h.
//
// Threads wait for jobs on semaphores. They are never joined, because a thread may be abandoned in
// a job that does not end.
#include "analysis/guard/guard.h"

#include "support/exclusive.h"

#include <llvm/Support/CrashRecoveryContext.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <semaphore>
#include <vector>

namespace warpwright::analysis {
namespace {

/// Reserved address space. Only the part that is used takes memory.
constexpr std::size_t kStackBytes = std::size_t{128} << 20;
constexpr std::size_t kSignalStackBytes = std::size_t{64} << 10;
/// A job that no checkpoint ends is abandoned after this multiple of its processor time limit.
constexpr int kPatience = 3;
/// A job is also abandoned after this multiple of its limit in wall-clock time: it waits for a file
/// that does not come, or the machine is very busy.
constexpr int kWallPatience = 30;

constexpr std::array kCrashSignals{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};

struct Job {
  Limits limits;
  std::function<void()> work;
  std::binary_semaphore done{0};
  std::atomic<bool> settled{false}; ///< set when the job ends or is abandoned
  std::optional<Error> error;
};

struct Thread {
  std::binary_semaphore wake{0};
  std::shared_ptr<Job> job;
  clockid_t clock{}; ///< the thread's processor time
};

std::chrono::nanoseconds time_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Threads without a job. The list is never destroyed, because the threads outlive main().
Exclusive<std::vector<Thread *>> &idle() {
  static auto &threads = *new Exclusive<std::vector<Thread *>>;
  return threads;
}

/// Enables LLVM's signal handlers on a separate stack, because an overflowed stack has no room for
/// them.
void enable_recovery() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::CrashRecoveryContext::Enable();
    for (const int signal : kCrashSignals) {
      struct sigaction action {};
      sigaction(signal, nullptr, &action);
      action.sa_flags |= SA_ONSTACK;
      sigaction(signal, &action, nullptr);
    }
  });
}

Error crash_error(int code) {
  constexpr int kSignalBase = 128; // LLVM's return codes of signals start here
  const char *name = code > kSignalBase ? strsignal(code - kSignalBase) : nullptr;
  return {"the analysis crashed" + (name ? " (" + std::string(name) + ")" : std::string()),
          "Please report it with the file"};
}

Error limit_error(Exhausted reason, const Limits &limits) {
  switch (reason) {
  case Exhausted::Time:
    return {"it takes more than " + std::to_string(limits.cpu_time.count()) +
            " ms of processor time"};
  case Exhausted::Memory:
    return {"it takes more than " + std::to_string(limits.memory_bytes >> 20) + " MiB of memory"};
  case Exhausted::Depth:
    return {"its code is nested too deeply"};
  case Exhausted::Nothing:
    break;
  }
  return {"the machine is out of memory"};
}

/// Runs the job's work and turns every exception into an error.
std::optional<Error> run_work(Job &job, Budget &budget) {
  try {
    job.work();
    return std::nullopt;
  } catch (const Interrupted &) {
    return limit_error(budget.exhausted(), job.limits);
  } catch (const std::bad_alloc &) {
    return limit_error(budget.exhausted(), job.limits);
  } catch (const std::exception &error) {
    return Error{std::string("an error that should not happen: ") + error.what(),
                 "Please report it with the file"};
  }
}

void run(Job &job, std::uintptr_t stack_low) {
  Budget budget(job.limits, stack_low, kStackBytes);
  current_budget = &budget;
  int code = 0;
  // Two contexts: the inner one frees the objects that Clang registered with it, which may crash
  // too.
  llvm::CrashRecoveryContext outer;
  const bool cleaned = outer.RunSafely([&] {
    llvm::CrashRecoveryContext inner;
    if (!inner.RunSafely([&] { job.error = run_work(job, budget); }))
      code = inner.RetCode;
  });
  if (!cleaned)
    code = outer.RetCode;
  current_budget = nullptr;
  if (code != 0)
    job.error = crash_error(code);
}

void *serve(void *argument) {
  Thread &self = *static_cast<Thread *>(argument);
  alignas(16) std::array<char, kSignalStackBytes> signal_stack;
  stack_t alternate{.ss_sp = signal_stack.data(), .ss_flags = 0, .ss_size = signal_stack.size()};
  sigaltstack(&alternate, nullptr);
  pthread_attr_t attributes;
  void *low = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  for (;;) {
    self.wake.acquire();
    const std::shared_ptr<Job> job = std::move(self.job);
    run(*job, reinterpret_cast<std::uintptr_t>(low));
    if (job->settled.exchange(true)) { // abandoned: no one waits or gives this thread a job
      delete &self;
      return nullptr;
    }
    idle().with([&](auto &threads) { threads.push_back(&self); });
    job->done.release();
  }
}

/// Starts a thread of the pool; null if the system starts no more threads.
Thread *start_thread() {
  auto thread = std::make_unique<Thread>();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // Blocks the process's signals in this thread; other threads handle them.
  sigset_t all, before;
  sigfillset(&all);
  for (const int signal : kCrashSignals)
    sigdelset(&all, signal);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t id{};
  const int error = pthread_create(&id, &attributes, serve, thread.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0)
    return nullptr;
  pthread_getcpuclockid(id, &thread->clock);
  return thread.release();
}

Thread *take_thread() {
  Thread *known = idle().with([](auto &threads) {
    Thread *last = threads.empty() ? nullptr : threads.back(); // its stack is probably cached
    if (last)
      threads.pop_back();
    return last;
  });
  return known ? known : start_thread();
}

/// Waits for the end of the job.
/// @return false if the job was abandoned
bool wait(const Thread &thread, Job &job) {
  const auto start = time_of(thread.clock);
  for (int waited = 0; !job.done.try_acquire_for(job.limits.cpu_time); ++waited) {
    if (waited < kWallPatience && time_of(thread.clock) - start < kPatience * job.limits.cpu_time)
      continue;
    if (!job.settled.exchange(true))
      return false;
    job.done.acquire(); // the job ended at the last moment
    return true;
  }
  return true;
}

} // namespace

Result<void> run_guarded(const Limits &limits, std::function<void()> work) {
  if (current_budget) {
    work();
    return {};
  }
  enable_recovery();
  Thread *thread = take_thread();
  if (!thread)
    return fail("the system starts no more threads", "Close programs, or raise the limit");
  const auto job = std::make_shared<Job>();
  job->limits = limits;
  job->work = std::move(work);
  thread->job = job;
  thread->wake.release();
  if (!wait(*thread, *job))
    return fail("it does not end", "Please report it with the file");
  if (job->error)
    return std::unexpected(*job->error);
  return {};
}

FileFacts scanned_facts(const SourceFile &file, const Error &reason) {
  FileFacts facts{.path = file.path};
  if (Result<FileFacts> scanned =
          guarded(kEditorLimits, [file]() -> Result<FileFacts> { return scan(file); }))
    facts = std::move(*scanned);
  facts.diagnostics.push_back(
      {.rule = kNotAnalysedRule,
       .severity = Severity::Warning,
       .message = "Warpwright could not analyze this file, and knows only the names of its "
                  "kernels and launches: " +
                  describe(reason),
       .line = 1,
       .column = 1});
  return facts;
}

const Diagnostic *why_not_analysed(const FileFacts &facts) {
  for (const Diagnostic &diagnostic : facts.diagnostics)
    if (diagnostic.rule == kNotAnalysedRule)
      return &diagnostic;
  return nullptr;
}

FileFacts analyze_guarded(const SourceFile &file, const ParseSettings &settings,
                          const AnalyzeOptions &options, const Limits &limits) {
  Result<FileFacts> facts = guarded(limits, [file, settings, options]() -> Result<FileFacts> {
    return analyze(file, settings, options);
  });
  return facts ? std::move(*facts) : scanned_facts(file, facts.error());
}

} // namespace warpwright::analysis
