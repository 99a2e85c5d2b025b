// One enclosure: a process with its own namespaces, root and control group, behind all layers of
// isolation. Only the supervisor (supervisor.h) makes enclosures. Thread: a process's only one.
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
  /// Ends all processes of the enclosure and returns when they have ended.
  ~Guest();

  /// A plain child process, for use without isolation.
  static Guest of_child(pid_t pid);

  bool is_there() const { return pid_ > 0; }
  /// Process id of init, or of the process itself if the kernel permits no PID namespace.
  pid_t pid() const { return pid_; }
  bool has_view() const { return has_view_; }
  /// Descriptor that is readable when the process has ended; -1: no init.
  int control() const { return control_; }
  /// The wait status of the process once it has ended; does not block.
  std::optional<int> poll();
  /// Like poll(), but waits up to the limit, so that a process that is just ending keeps its own
  /// status.
  std::optional<int> poll_for(int limit_ms);
  /// Like poll(), but waits until the process has ended.
  int wait();
  /// Ends all processes of the enclosure. @return the wait status of the process
  int end();

  struct Freezing {
    std::string by;    ///< "cgroup", "signals"; empty: freezing is not possible here
    bool woke = false; ///< after thawing: a process had already been resumed by another
  };
  /// Freezes or thaws all processes of the enclosure; returns when that is done.
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

/// Result of a fork in both processes. The supervisor's has a guest, for which is_there() is true
/// unless the fork failed. The guest's has the layers entered so far, which settle() completes.
struct Forked {
  /// Layers entered so far; set only in the guest.
  std::optional<std::vector<IsolationLayer>> inside;
  Guest guest;
};

/// Forks an enclosed process. The calling process must have only one thread.
Forked fork_guest(const Sandbox &sandbox);

/// Plain fork without isolation; the child dies with this process.
Forked fork_plainly();

/// Enters the remaining layers, in the guest. Workers without a driver get their system call filter
/// later, in seal(). Sets TMPDIR.
std::vector<IsolationLayer> settle(const Sandbox &sandbox, std::vector<IsolationLayer> layers);

} // namespace warpwright::runner
