// The reference's own rounding error where one drawing shows too little of it.
//
// A sum has one element. Its error in one drawing may be near 0 by luck, and the sum itself near 0 by
// cancellation, so "a few times the reference's error, relative to the output" would refuse right
// candidates at random. Over several drawings both are stable: the largest error, relative to the
// root mean square of the outputs of all of them. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// Outputs of up to this many elements are worth asking for further drawings.
inline constexpr std::uint64_t kFewElements = 256;

struct ReferenceNoise {
  double scale = 1; ///< root mean square of the reference's output, over all drawings
  double error = 0; ///< largest |reference - fp64| / max(|fp64|, scale)
};

/// Runs the reference and its fp64 twin on further drawings of the same sizes and magnitude.
/// @param buffer a floating-point output of at most kFewElements elements
/// @param scale of the drawing at hand: the result's is at least that
DeviceResult<ReferenceNoise> reference_noise(Job &job, const Drawing &drawing,
                                             const model::Buffer &buffer, double scale);

} // namespace warpwright::runner
