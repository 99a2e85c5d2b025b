// A control group (cgroup v2) for one enclosure. It limits memory and processes if those
// controllers are delegated, and can freeze and kill the whole enclosure if a group can be made.
// Thread: any.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

/// Moves this process into a new child group, so that its former group may contain groups with
/// limits (cgroup v2 allows no processes in inner groups). Only if this process is alone in its
/// group, as in a systemd unit with Delegate=yes; otherwise no effect.
void delegate_control_group();

class ControlGroup {
public:
  ControlGroup() = default;
  /// Makes a group below this process's own group. If that fails, is_made() is false.
  static ControlGroup make(WorkerKind kind);
  /// Removes empty groups left by supervisors that were killed.
  static void remove_leftovers();
  ControlGroup(ControlGroup &&other) noexcept { *this = std::move(other); }
  ControlGroup &operator=(ControlGroup &&other) noexcept;
  /// Kills all processes in the group and removes it.
  ~ControlGroup() { end(); }

  bool is_made() const { return !path_.empty(); }
  /// Moves the calling process into the group. For a child process; the parent still ends the
  /// group.
  bool join() const;
  /// Freezes or thaws all processes and returns when that is done. False: failed.
  bool freeze(bool wanted) const;
  void end();
  /// For a child process: forgets the group without ending it.
  void release() { path_.clear(); }
  IsolationLayer layer() const;

private:
  std::filesystem::path path_;
  std::string detail_ = "there is no cgroup v2 hierarchy that this process may write";
};

} // namespace warpwright::runner
