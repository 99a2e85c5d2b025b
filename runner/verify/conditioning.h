// How much a task's result changes when its inputs are rounded differently.
//
// The fp64 reference runs on the inputs, and again on inputs of which each was moved by one unit in its last
// place. Whatever moves its result so far is in the task and not in a plan: no plan of that type can be more
// accurate than a few such roundings. Asked only where the usual bound does not hold. Thread: the job thread.
#pragma once

#include "runner/verify/plan_run.h"

#include <span>

namespace warpwright::runner {

/// A computation rounds more often than its inputs. An error of up to this many times the spread is explained by the spread.
inline constexpr double kRoundingsOfAPlan = 16;

/// Elements of an output that are judged by one scale.
struct Part {
  std::uint64_t first = 0, count = 0;
  double scale = 1; ///< root mean square of the reference's output there, above 0
};

/// Largest change of the fp64 reference's output over several roundings of its inputs: relative to the element or, where that is
/// larger, to the scale of its part.
/// @param exact where the fp64 reference's output for the drawing lies
/// @return nullopt where the fp64 reference does not run
DeviceResult<std::optional<double>> rounding_spread(Job &job, const Drawing &drawing,
                                                    const model::Buffer &buffer, Address exact,
                                                    std::span<const Part> parts);

} // namespace warpwright::runner
