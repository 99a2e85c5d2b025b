#include "runner/service/device_turn.h"

#include <algorithm>
#include <utility>

namespace warpwright::runner {

void DeviceTurn::join(Owner owner, std::function<void()> make_room) {
  members_[owner] = {std::move(make_room), false};
}

void DeviceTurn::part(Owner owner) {
  members_.erase(owner);
  leave(owner);
}

void DeviceTurn::ask(Owner owner, bool alone, std::function<void()> granted) {
  waiting_.push_back({owner, alone, std::move(granted)});
  pass_on();
}

void DeviceTurn::give(Owner owner) {
  waiting_.remove_if([owner](const Waiting &one) { return one.owner == owner; });
  if (holder_ == owner)
    holder_ = nullptr;
  pass_on();
}

void DeviceTurn::leave(Owner owner) {
  if (const auto member = members_.find(owner); member != members_.end())
    member->second.at_work = false;
  if (alone_ == owner)
    alone_ = nullptr;
  give(owner);
}

bool DeviceTurn::others_work(Owner owner) const {
  return std::ranges::any_of(members_, [owner](const auto &member) {
    return member.first != owner && member.second.at_work;
  });
}

std::list<DeviceTurn::Waiting>::iterator DeviceTurn::next() {
  bool one_wants_it_alone = alone_ != nullptr;
  for (auto one = waiting_.begin(); one != waiting_.end(); ++one) {
    // An owner whose work has begun goes first, so that the work can end.
    if (members_[one->owner].at_work)
      return one;
    if (one_wants_it_alone)
      continue;
    if (!one->alone || !others_work(one->owner))
      return one;
    one_wants_it_alone = true;
  }
  return waiting_.end();
}

void DeviceTurn::pass_on() {
  const auto found = holder_ ? waiting_.end() : next();
  if (found == waiting_.end())
    return;
  const Waiting one = std::move(*found);
  waiting_.erase(found);
  holder_ = one.owner;
  members_[one.owner].at_work = true;
  if (one.alone) {
    alone_ = one.owner;
    for (const auto &[owner, member] : std::map(members_))
      if (owner != one.owner && member.make_room)
        member.make_room();
  }
  one.granted();
}

} // namespace warpwright::runner
