// Device memory on the host. Every allocation lies between inaccessible guard pages.
//
// An allocation ends where a guard page starts, so an access to the first byte past its end faults.
// The rest of the allocation's first page is filled with 0xFF and follows the lower guard pages.
// The guards are wide, because address space is cheap: a message can name the buffer even for an
// address far out of bounds. Thread: the job thread.
#pragma once

#include "runner/torch/child_host.h"
#include "runner/device/device.h"

#include <map>

namespace warpwright::runner::cpu {

class GuardedMemory {
public:
  /// @param shared memory for the allocations, visible to another process; without a descriptor,
  ///        allocations use private memory of this process
  explicit GuardedMemory(SharedMemory shared = {}) : shared_(shared) {}
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;
  ~GuardedMemory();

  /// Allocates zeroed memory, committed on first touch. Faults: OutOfMemory. All allocations
  /// together may use at most a quarter of the machine's memory, because a plan may request any
  /// amount.
  DeviceResult<Address> allocate(std::size_t size_bytes);
  /// Frees an allocation. Unknown addresses are ignored.
  void free(Address address);
  /// Names the `size_bytes` bytes at `address`, inside one allocation, for use in messages.
  void set_name(Address address, std::size_t size_bytes, std::string name);
  /// Offset in the shared memory of `address`, which must lie in an allocation.
  std::uint64_t offset_of(Address address) const;
  /// Describes an address for messages: "4 bytes past the end of 'x' (400 bytes)", "at address
  /// 0x12345678, far from any buffer".
  std::string describe(Address address) const;

private:
  struct Named {
    std::size_t size_bytes = 0;
    std::string name;
  };
  struct Allocation {
    std::size_t size_bytes = 0;
    void *mapping = nullptr;
    std::size_t mapping_bytes = 0;
    std::uint64_t offset = 0; ///< offset of the first page in the shared memory
    std::map<Address, Named> names;
  };
  bool commit(Allocation &allocation, char *start, std::size_t inner);

  SharedMemory shared_;
  std::map<std::uint64_t, std::size_t> taken_; ///< used ranges of the shared memory: offset, bytes
  std::map<Address, Allocation> allocations_;
  std::size_t allocated_bytes_ = 0;
};

} // namespace warpwright::runner::cpu
