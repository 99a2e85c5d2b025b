// Which inputs a candidate is tried on: seeds, sizes, magnitudes, alignments. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

#include <random>

namespace warpwright::runner {

/// In the order in which they are tried: what fails fast comes first.
/// @param main_sizes at which most drawings of a native task are
/// @param thorough of a torch task: more than one
std::vector<Drawing> drawings_of(const Job &job, const symbolic::Sizes &main_sizes, bool thorough,
                                 std::mt19937_64 &random);

/// Whether iterations until a value is small enough may never end where values are large.
bool may_loop_on_values(const std::string &source);

} // namespace warpwright::runner
