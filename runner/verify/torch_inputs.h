// Drawing by the task's torch module, kept to fill buffers repeatedly.
//
// Drawing needs Python and is slow for large inputs, while every timed run needs fresh inputs. So one drawing is made
// and hidden from plans, and others derive from it: floating-point buffers are rotated, which keeps every value and the
// range. Integers (possibly indices) and buffers of mostly one value (masks) stay as drawn. Thread: the job thread.
#pragma once

#include "runner/verify/guarded_buffer.h"
#include "runner/verify/job.h"

namespace warpwright::runner {

class TorchInputs {
public:
  /// Lets the task's module draw. Faults: Unsupported with Python's message.
  static DeviceResult<std::shared_ptr<const TorchInputs>> draw(Job &job, const Drawing &drawing);

  /// True if this is the given drawing up to rotations.
  bool holds(const Drawing &drawing) const;
  /// @param index of one of the task's In or InOut buffers
  DeviceResult<void> fill(Job &job, std::size_t index, Address to, const Drawing &drawing) const;
  /// The check of fill()'s result for Checker::check_copies().
  element::RotatedCopy copy_in(std::size_t index, Address buffer, const Drawing &drawing) const;

private:
  /// Scales the rows of the buffer with this index as wide_bands() says.
  DeviceResult<void> scale_rows(Job &job, std::size_t index);
  struct Master {
    GuardedBuffer memory;
    std::uint64_t elements = 0;
    std::size_t width = 0;
    bool rotates = false;
  };
  Drawing drawing_;
  std::map<std::size_t, Master> masters_; ///< by the buffer's index in the task
};

} // namespace warpwright::runner
