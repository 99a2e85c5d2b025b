// A control group (cgroup v2) for one enclosure: limits of memory and processes where the
// controllers are delegated, and freezing and killing all of it wherever a group can be made.
// Thread: any.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

/// Makes this process the only one of a group of its own, so that its parent group can have limited
/// groups beside it (cgroup v2's rule of no internal processes). Only where this process is alone in
/// its group, as in a unit of systemd with Delegate=yes. Nothing happens elsewhere.
void delegate_control_group();

class ControlGroup {
public:
  ControlGroup() = default;
  /// Below this process's own group. A group that cannot be made is an object that is_made() denies.
  static ControlGroup make(WorkerKind kind);
  /// Removes the empty groups that supervisors which were killed have left behind.
  static void remove_leftovers();
  ControlGroup(ControlGroup &&other) noexcept { *this = std::move(other); }
  ControlGroup &operator=(ControlGroup &&other) noexcept;
  /// Kills what is in it.
  ~ControlGroup() { end(); }

  bool is_made() const { return !path_.empty(); }
  /// The calling process enters it. In a child: the group stays the parent's to end.
  bool join() const;
  /// Returns when all of it stands still, or goes on. False: it cannot.
  bool freeze(bool wanted) const;
  void end();
  /// In a child: forgets it without ending it.
  void release() { path_.clear(); }
  IsolationLayer layer() const;

private:
  std::filesystem::path path_;
  std::string detail_ = "there is no cgroup v2 hierarchy that this process may write";
};

} // namespace warpwright::runner
