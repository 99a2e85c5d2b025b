// Operations over whole buffers: drawing inputs, finding changes, surveying and comparing outputs.
//
// The interface has two implementations: one on the host, for devices whose memory the host reads, and one in the
// runner's own kernels, for large and remote buffers. Both run element_math.h's functions. Thread: the job thread.
#pragma once

#include "runner/device/device.h"
#include "runner/verify/draw_math.h"
#include "support/model/task.h"

#include <span>
#include <vector>

namespace warpwright::runner {

/// Text of element_math.h, draw_math.h and device_kernels.cu.
extern const char *const kDeviceKernels;

/// For element::type_at().
element::u64 type_code(model::Dtype dtype);
element::u64 type_code(const model::Buffer &buffer);

/// Parameters for drawing a buffer's elements from one seed. `lower` and `upper` bound Integers.
/// @param scale factor on Normal and Uniform values
/// @param promote floating-point elements become float64, for the fp64 reference
element::Draw make_draw(model::Dtype dtype, model::Distribution::Kind kind, std::int64_t lower,
                        std::int64_t upper, std::uint64_t seed, float scale, bool promote = false);

/// The same for a buffer of a task. @param lower,upper values of its distribution's bounds
element::Draw make_draw(const model::Buffer &buffer, std::int64_t lower, std::int64_t upper,
                        std::uint64_t elements, std::uint64_t seed, bool promote = false);

/// Relative distance from 1 to the next larger number of a floating-point type.
double unit_in_last_place(model::Dtype dtype);

struct ChangedElements {
  std::uint64_t count = 0, first = 0;
};

class Checker {
public:
  virtual ~Checker() = default;
  virtual DeviceResult<void> generate(const element::Draw &draw, Address out,
                                      std::uint64_t count) = 0;
  /// Changes the elements of a buffer in place.
  virtual DeviceResult<void> change(const element::Change &change, Address buffer,
                                    std::uint64_t count) = 0;
  virtual DeviceResult<ChangedElements> find_changed(const element::Draw &draw, Address buffer,
                                                     std::uint64_t count) = 0;
  /// Finds the bytes of each guard that differ from `byte`; all guards at once, since a network has thousands.
  virtual DeviceResult<std::vector<element::Marks>>
  check_guards(std::span<const element::Guard> guards, unsigned char byte) = 0;
  /// Finds the elements of each copy that differ from their source.
  virtual DeviceResult<std::vector<element::Marks>>
  check_copies(std::span<const element::RotatedCopy> copies) = 0;
  /// @param type as in element::type_at()
  virtual DeviceResult<element::Survey> survey(element::u64 type, Address reference,
                                               std::uint64_t count) = 0;
  /// The pointers in `comparison` are device addresses.
  virtual DeviceResult<element::Findings> compare(const element::Comparison &comparison,
                                                  std::uint64_t count) = 0;
};

std::unique_ptr<Checker> make_host_checker(Device &device);
/// Faults: the runner's kernels do not compile on this device.
DeviceResult<std::unique_ptr<Checker>> make_device_checker(Device &device);
/// Compiles the runner's kernels for make_checker(), without using the device.
void compile_checker_ahead(Device &device);
/// The checker that suits the device. Faults: as make_device_checker().
DeviceResult<std::unique_ptr<Checker>> make_checker(Device &device);

} // namespace warpwright::runner
