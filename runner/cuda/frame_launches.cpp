// Addresses are written into the packed arguments right before the launches.
#include "runner/cuda/frame_launches.h"

namespace warpwright::runner::cuda {

std::size_t FrameLaunches::begin_group() {
  groups_.emplace_back();
  return groups_.size() - 1;
}

void FrameLaunches::patch(void *at, Address address) {
  for (std::size_t place = places_.size(); place-- > 0;) {
    const Address first = places_[place].address;
    // One past the end is an address of the place too: a kernel may be given an empty rest.
    if (address >= first && address <= first + places_[place].size_bytes) {
      groups_.back().patches.push_back({at, place, address - first});
      return;
    }
  }
}

void FrameLaunches::add(CUfunction function, const LaunchOperation &launch) {
  Call &call = groups_.back().calls.emplace_back(Call{function, launch, {}, {}});
  for (ArgumentValue &argument : call.launch.arguments) {
    call.arguments.push_back(argument.bytes.data());
    Address address = 0;
    if (!argument.is_address)
      continue;
    std::memcpy(&address, argument.bytes.data(), sizeof address);
    patch(argument.bytes.data(), address);
  }
}

void FrameLaunches::add(const FillOperation &fill) {
  if (fill.size_bytes == 0)
    return;
  Call &call = groups_.back().calls.emplace_back(Call{nullptr, {}, {}, fill});
  patch(&call.fill.address, fill.address);
}

int FrameLaunches::start_group(std::size_t group, const std::uint64_t *addresses) {
  for (const Patch &patch : groups_[group].patches) {
    const std::uint64_t address = addresses[patch.place] + patch.offset;
    std::memcpy(patch.at, &address, sizeof address);
  }
  for (Call &call : groups_[group].calls) {
    const LaunchOperation &launch = call.launch;
    const Status status =
        call.function
            ? driver_.cuLaunchKernel(call.function, launch.grid[0], launch.grid[1], launch.grid[2],
                                     launch.block[0], launch.block[1], launch.block[2],
                                     launch.shared_bytes, stream_, call.arguments.data(), nullptr)
            : driver_.cuMemsetD8Async(call.fill.address, call.fill.byte, call.fill.size_bytes,
                                      stream_);
    if (status != 0)
      return status;
  }
  return 0;
}

} // namespace warpwright::runner::cuda
