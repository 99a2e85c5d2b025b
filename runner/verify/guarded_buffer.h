// Device buffer between two guard regions that reveal writes just outside of it.
//
//   [ guard | payload, perhaps off alignment by one element | slack | guard ]   slack fills up to
//   kAlignment
//
// On devices with guard pages, the page behind the allocation is the last guard; the slack is still checked. Payload
// and guards are poisoned with one byte before a run. The byte differs between runs, so a value that looks like one
// poison cannot look like the other. Thread: the job thread. The Device must outlive it.
#pragma once

#include "runner/device/device.h"
#include "runner/verify/element_math.h"

#include <string>
#include <vector>

namespace warpwright::runner {

/// Poison bytes of the two runs. As floats: NaN, and large finite numbers; as integers: -1, and large.
inline constexpr unsigned char kPoisons[2] = {0xFF, 0x7B};

class GuardedBuffer {
public:
  /// @param offset_bytes added to the payload's aligned start: 0, or the size of one element
  /// @param wide guards of 1 MiB on both sides on every device: they detect a step outside without a fault
  static DeviceResult<GuardedBuffer> make(Device &device, std::size_t size_bytes,
                                          std::size_t offset_bytes, bool wide = false);
  GuardedBuffer(GuardedBuffer &&other) noexcept { *this = std::move(other); }
  GuardedBuffer &operator=(GuardedBuffer &&other) noexcept;
  ~GuardedBuffer();

  Address address() const { return base_ + front_bytes_; }
  std::size_t size_bytes() const { return size_bytes_; }

  DeviceResult<void> poison_payload(unsigned char byte) const;
  DeviceResult<void> poison_guards(unsigned char byte) const;
  /// The guard before the payload, and the one behind it if no page guards that side.
  std::vector<element::Guard> guards() const;
  /// Place of a write to a guard: "N bytes before its start", or "past its end". @param which of guards() @param marks
  /// not empty
  std::string damage_text(std::size_t which, const element::Marks &marks) const;

private:
  GuardedBuffer() = default;
  Device *device_ = nullptr;
  Address base_ = 0;
  std::size_t front_bytes_ = 0, size_bytes_ = 0, total_bytes_ = 0;
};

} // namespace warpwright::runner
