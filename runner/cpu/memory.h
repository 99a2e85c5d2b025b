// Device memory on the host: every allocation between pages that nobody may touch.
//
// An allocation ends where a guard page starts, so the first byte behind it faults; in front of it
// lies the rest of its first page, filled with 0xFF, and then guard pages. The guards are wide
// (address space is free), so an address that is far off is still named after the buffer it came
// from. Thread: the job thread.
#pragma once

#include "runner/torch/child_host.h"
#include "runner/device/device.h"

#include <map>

namespace warpwright::runner::cpu {

class GuardedMemory {
public:
  /// @param shared where allocations lie, so that another process sees them; with no descriptor: in this process's own memory
  explicit GuardedMemory(SharedMemory shared = {}) : shared_(shared) {}
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;
  ~GuardedMemory();

  /// Zero pages, committed on first touch. Faults: OutOfMemory, also where all allocations together
  /// would take more than a quarter of the machine's memory: a plan may ask for any amount.
  DeviceResult<Address> allocate(std::size_t size_bytes);
  /// Unknown addresses are ignored.
  void free(Address address);
  /// For messages: `size_bytes` bytes from `address` on, inside one allocation, are `name`.
  void set_name(Address address, std::size_t size_bytes, std::string name);
  /// Where in the shared memory an address of an allocation is.
  std::uint64_t offset_of(Address address) const;
  /// "4 bytes past the end of 'x' (400 bytes)", "at address 0x10, far from any buffer".
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
    std::uint64_t offset = 0; ///< of its first page in the shared memory
    std::map<Address, Named> names;
  };
  bool commit(Allocation &allocation, char *start, std::size_t inner);

  SharedMemory shared_;
  std::map<std::uint64_t, std::size_t> taken_; ///< of the shared memory: offset, bytes
  std::map<Address, Allocation> allocations_;
  std::size_t allocated_bytes_ = 0;
};

} // namespace warpwright::runner::cpu
