// One drawing by the task's torch module, kept apart, from which buffers are filled again and again.
//
// Drawing takes Python, and for large inputs long; what follows needs fresh inputs before every timed run. So a drawing is made
// once and kept where no plan sees it, and others are cut from it: floating-point buffers rotated, which keeps every value and its
// range. Integers stay as drawn (they may be indices), and so do buffers that are mostly one value (masks). Thread: the job thread.
#pragma once

#include "runner/verify/guarded_buffer.h"
#include "runner/verify/job.h"

namespace warpwright::runner {

class TorchInputs {
public:
  /// Has the task's module draw. Faults: Unsupported with what Python said.
  static DeviceResult<std::shared_ptr<const TorchInputs>> draw(Job &job, const Drawing &drawing);

  /// Whether the drawing is this one, but for rotations.
  bool holds(const Drawing &drawing) const;
  /// @param index of one of the task's In or InOut buffers
  DeviceResult<void> fill(Job &job, std::size_t index, Address to, const Drawing &drawing) const;
  /// What fill() makes of a buffer, for Checker::check_copies().
  element::RotatedCopy copy_in(std::size_t index, Address buffer, const Drawing &drawing) const;

private:
  /// Of the buffer of this index, as wide_bands() says.
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
