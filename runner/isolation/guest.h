// One enclosure: a process in namespaces, a root and a control group of its own, behind every layer.
// Only the supervisor (supervisor.h) makes one. Thread: a process's only one.
#pragma once

#include "runner/isolation/control_group.h"
#include "runner/isolation/init_process.h"

#include <optional>

namespace warpwright::runner {

class Guest {
public:
  Guest() = default;
  Guest(Guest &&other) noexcept { *this = std::move(other); }
  Guest &operator=(Guest &&other) noexcept;
  /// Ends all of it, and returns when it has ended.
  ~Guest();

  /// A plain child, where isolation is off.
  static Guest of_child(pid_t pid);

  bool is_there() const { return pid_ > 0; }
  /// Of init, or of the process itself where the kernel gives no PID namespace.
  pid_t pid() const { return pid_; }
  bool has_view() const { return has_view_; }
  /// Readable when the process has ended; -1 where there is no init.
  int control() const { return control_; }
  /// The wait status of the process once it has ended; does not block.
  std::optional<int> poll();
  /// As poll(), after at most so long: one that has just ended by itself keeps its status.
  std::optional<int> poll_for(int limit_ms);
  /// As poll(), and waits.
  int wait();
  /// Ends all of it. @return the wait status of the process
  int end();

  struct Freezing {
    std::string by;    ///< "cgroup", "signals"; empty: it cannot be frozen here
    bool woke = false; ///< thawing: it had gone on by itself
  };
  /// Returns when every process of it stands still, or may go on.
  Freezing freeze(bool wanted);

private:
  friend struct Forked;
  friend struct Forked fork_guest(const Sandbox &sandbox);
  pid_t pid_ = -1;
  int control_ = -1;
  bool has_view_ = false;
  ControlGroup group_;
  std::optional<int> status_;
};

/// Both sides of a fork: the supervisor's has a guest (that is_there() unless nothing could be
/// forked), the guest's an isolation that settle() completes.
struct Forked {
  std::optional<std::vector<IsolationLayer>> inside; ///< what was entered so far
  Guest guest;
};

/// Needs a process of one thread.
Forked fork_guest(const Sandbox &sandbox);

/// The same where isolation is off: a plain fork, which dies with this process.
Forked fork_plainly();

/// Inside: every layer that is left. Sets TMPDIR.
std::vector<IsolationLayer> settle(const Sandbox &sandbox, std::vector<IsolationLayer> layers);

} // namespace warpwright::runner
