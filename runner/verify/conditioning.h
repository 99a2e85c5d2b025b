// Estimate of how much a task's result changes when its inputs are rounded differently.
//
// The fp64 reference runs on the inputs, and again on inputs that were each moved by one unit in the last place. The
// resulting change belongs to the task, not the plan: no plan of that type can be more accurate than a few such
// roundings. It is used only where the usual bound fails. Thread: the job thread.
#pragma once

#include "runner/verify/plan_run.h"

#include <span>

namespace warpwright::runner {

/// Multiple of the spread that an error may reach and still be explained by it: a computation rounds more often than
/// its inputs.
inline constexpr double kRoundingsOfAPlan = 16;

/// Range of output elements that are judged by one scale.
struct Part {
  std::uint64_t first = 0, count = 0;
  double scale = 1; ///< root mean square of the reference's output in it, above 0
};

/// Largest change of the fp64 reference's output over several roundings of its inputs, relative to the larger of the
/// element and the scale of its part.
/// @param exact address of the fp64 reference's output for the drawing
/// @return nullopt: the fp64 reference does not run
DeviceResult<std::optional<double>> rounding_spread(Job &job, const Drawing &drawing,
                                                    const model::Buffer &buffer, Address exact,
                                                    std::span<const Part> parts);

} // namespace warpwright::runner
