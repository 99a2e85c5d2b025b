// Explanation of wrong elements by decisions that rounding takes: the index of the nearest of two
// equally near values, a quotient rounded to an integer, what a router picks.
//
// An error bound does not fit such results, because two of them are equal or far apart. The fp64
// reference runs on inputs that were moved by one unit in the last place, several times. Elements
// of the candidate that differ are explained if such a run takes the same value. Elements that a
// defect always hits are not. Thread: the job thread.
#pragma once

#include "runner/verify/output_judge.h"

namespace warpwright::runner {

struct Flips {
  std::uint64_t candidate = 0, reference = 0; ///< elements that differ from the fp64 reference
  std::uint64_t rounded = 0; ///< elements that one rounding of the inputs changes, at most
  bool explained = false;    ///< the candidate is as right as the reference
};

/// @param wrong elements that differ from what is expected
/// @param allowed largest error of a floating-point element against fp64, relative to the larger of the element and
/// `scale`; integers must be equal
/// @return nullopt: too many elements differ to be an effect of rounding, or the fp64 reference does not run
DeviceResult<std::optional<Flips>> rounding_flips(Job &job, const Drawing &drawing,
                                                  const model::Buffer &buffer,
                                                  const OutputRuns &runs, std::uint64_t wrong,
                                                  double allowed, double scale);

} // namespace warpwright::runner
