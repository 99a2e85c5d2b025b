#include "runner/service/device_turn.h"

namespace warpwright::runner {

void DeviceTurn::ask(Owner owner, std::function<void()> granted) {
  if (holder_ && holder_ != owner) {
    waiting_.push_back({owner, std::move(granted)});
    return;
  }
  holder_ = owner;
  granted();
}

void DeviceTurn::give(Owner owner) {
  waiting_.remove_if([owner](const Waiting &one) { return one.owner == owner; });
  if (holder_ != owner)
    return;
  holder_ = nullptr;
  if (waiting_.empty())
    return;
  const Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  ask(next.owner, next.granted);
}

} // namespace warpwright::runner
