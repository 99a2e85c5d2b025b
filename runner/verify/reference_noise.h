// Estimate of the reference's own rounding error, for outputs too small for one drawing to show it.
//
// A sum has one element. In one drawing its error may be near 0 by luck and its value near 0 by cancellation, so a
// limit of a few times the relative error would refuse right candidates at random. Over several drawings the largest
// error is stable relative to the root mean square of all outputs. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// Outputs of up to this many elements justify further drawings.
inline constexpr std::uint64_t kFewElements = 256;

struct ReferenceNoise {
  double scale = 1; ///< root mean square of the reference's output, over all drawings
  double error = 0; ///< largest |reference - fp64| / max(|fp64|, scale)
};

/// Runs the reference and its fp64 version on further drawings of the same sizes and magnitude.
/// @param buffer a floating-point output of at most kFewElements elements
/// @param scale of the present drawing; the result's is at least as large
DeviceResult<ReferenceNoise> reference_noise(Job &job, const Drawing &drawing,
                                             const model::Buffer &buffer, double scale);

} // namespace warpwright::runner
