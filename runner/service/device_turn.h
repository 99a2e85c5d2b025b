// Turns of several worker processes on one device.
//
// One process uses the device at a time, so measurements never overlap and nothing else runs during
// a measurement. Meanwhile, other processes start, import torch or run torch.compile, which takes
// longer than a measurement and needs no GPU. A worker process asks for the turn before its job and
// may give it up during the job; requests are served in order. A job that needs the memory kept by
// other processes may ask for the device alone. It then waits until no other owner is at work, the
// idle processes of the others are ended, and no other work begins until the job is done. This
// class does not know how a turn is used. Thread: the service's strand.
#pragma once

#include <functional>
#include <list>
#include <map>

namespace warpwright::runner {

class DeviceTurn {
public:
  using Owner = const void *;

  /// @param make_room called when another owner gets the device alone: this owner must release what
  /// it keeps on the device without a job
  void join(Owner owner, std::function<void()> make_room);
  /// Leaves, and forgets the owner.
  void part(Owner owner);

  /// Calls `granted` when it is this owner's turn: at once, or when those before it have given
  /// theirs up. The owner is then at work until it leaves. At most one request may be open for an
  /// owner.
  /// @param alone wait until no other owner is at work; applies to the first request of a piece of
  /// work
  void ask(Owner owner, bool alone, std::function<void()> granted);
  /// Ends the owner's turn or its waiting; no effect without either. The owner may ask again for
  /// the same work.
  void give(Owner owner);
  /// Like give(), and the owner's work is over.
  void leave(Owner owner);
  bool is_of(Owner owner) const { return holder_ == owner; }
  bool is_shared() const { return members_.size() > 1; }

private:
  struct Waiting {
    Owner owner;
    bool alone;
    std::function<void()> granted;
  };
  struct Member {
    std::function<void()> make_room;
    bool at_work = false;
  };

  bool others_work(Owner owner) const;
  /// The first waiting owner that may have the turn now; end(): none.
  std::list<Waiting>::iterator next();
  void pass_on();

  Owner holder_ = nullptr;
  Owner alone_ = nullptr; ///< the owner that has the device to itself until it leaves
  std::map<Owner, Member> members_;
  std::list<Waiting> waiting_;
};

} // namespace warpwright::runner
