// Whose turn it is on a device that several worker processes share.
//
// Only one uses the device at a time, so measurements never overlap and nothing else runs beside one. The others start, import
// torch or run torch.compile meanwhile, which takes longer than measuring and needs no GPU. A worker process asks for the turn
// before its job, and may give it up in between; who waits is served in order. It knows nothing of what a turn is used for.
// Thread: the service's strand.
#pragma once

#include <functional>
#include <list>

namespace warpwright::runner {

class DeviceTurn {
public:
  using Owner = const void *;

  /// Calls back when it is this owner's turn: at once, or when those before it gave theirs. An owner asks once before it gives.
  void ask(Owner owner, std::function<void()> granted);
  /// Ends the owner's turn, or its waiting; nothing where it has neither.
  void give(Owner owner);
  bool is_of(Owner owner) const { return holder_ == owner; }

private:
  struct Waiting {
    Owner owner;
    std::function<void()> granted;
  };

  Owner holder_ = nullptr;
  std::list<Waiting> waiting_;
};

} // namespace warpwright::runner
