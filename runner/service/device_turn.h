// Whose turn it is on a device that several worker processes share.
//
// Only one uses the device at a time, so measurements never overlap and nothing else runs beside one. The others start, import
// torch or run torch.compile meanwhile, which takes longer than measuring and needs no GPU. A worker process asks for the turn
// before its job, and may give it up in between; who waits is served in order. A job whose memory does not suffice beside what
// others keep may ask for the device alone: it then waits until none has a job, their processes are ended, and none begins before it
// is done. This knows nothing of what a turn is used for. Thread: the service's strand.
#pragma once

#include <functional>
#include <list>
#include <map>

namespace warpwright::runner {

class DeviceTurn {
public:
  using Owner = const void *;

  /// @param make_room called while another is given the device alone: what the owner keeps there without a job is to go
  void join(Owner owner, std::function<void()> make_room);
  /// Gives, leaves and forgets.
  void part(Owner owner);

  /// Calls back when it is this owner's turn: at once, or when those before it gave theirs. It is then at work until it leaves.
  /// An owner asks once before it gives.
  /// @param alone with no other at work; of the first time that it asks for its work
  void ask(Owner owner, bool alone, std::function<void()> granted);
  /// Ends the owner's turn, or its waiting; nothing where it has neither. It may ask again, for the same work.
  void give(Owner owner);
  /// The same, and its work is over.
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
  /// The first that may have it now; end(): none.
  std::list<Waiting>::iterator next();
  void pass_on();

  Owner holder_ = nullptr;
  Owner alone_ = nullptr; ///< who has the device to itself until it leaves
  std::map<Owner, Member> members_;
  std::list<Waiting> waiting_;
};

} // namespace warpwright::runner
