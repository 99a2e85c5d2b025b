// Implementation of FrameLaunches. It writes addresses into the packed arguments right before the
// launches.
#include "runner/cuda/frame_launches.h"

namespace warpwright::runner::cuda {

std::size_t FrameLaunches::begin_group() {
  groups_.emplace_back();
  return groups_.size() - 1;
}

void FrameLaunches::patch(void *at, Address address) {
  for (std::size_t place = places_.size(); place-- > 0;) {
    const Address first = places_[place].address;
    // The address one past the end belongs to the place too: an argument may be an empty rest.
    if (address >= first && address <= first + places_[place].size_bytes) {
      groups_.back().patches.push_back({at, place, address - first});
      return;
    }
  }
}

void FrameLaunches::add(CUfunction function, const LaunchOperation &launch) {
  for (ArgumentValue &argument : groups_.back().launches.add(function, launch).arguments)
    for (const std::uint32_t at : argument.addresses) {
      Address address = 0;
      std::memcpy(&address, argument.bytes.data() + at, sizeof address);
      patch(argument.bytes.data() + at, address);
    }
}

void FrameLaunches::add(const FillOperation &fill) {
  if (FillOperation *added = groups_.back().launches.add(fill))
    patch(&added->address, fill.address);
}

int FrameLaunches::start_group(std::size_t group, const std::uint64_t *addresses) {
  for (const Patch &patch : groups_[group].patches) {
    const std::uint64_t address = addresses[patch.place] + patch.offset;
    std::memcpy(patch.at, &address, sizeof address);
  }
  return groups_[group].launches.start(driver_, stream_);
}

} // namespace warpwright::runner::cuda
