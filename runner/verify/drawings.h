// Drawings that a candidate is tried on: seeds, sizes, magnitudes, alignments. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

#include <random>

namespace warpwright::runner {

/// The drawings in order of trial; those that fail fast come first.
/// @param main_sizes of most drawings of a native task
/// @param thorough more than one drawing of a torch task
std::vector<Drawing> drawings_of(const Job &job, const symbolic::Sizes &main_sizes, bool thorough,
                                 std::mt19937_64 &random);

/// True if the source iterates until a value is small enough, and so may never end for large values.
bool may_loop_on_values(const std::string &source);

} // namespace warpwright::runner
