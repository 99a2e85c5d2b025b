// Families of cases, one file each. table.cpp lists them all.
// Thread: any.
#pragma once

#include "runner/adversary/case.h"

namespace warpwright::runner::adversary {

std::vector<Case> global_cache_cases(); ///< results kept in __device__ globals
std::vector<Case> stale_answer_cases(); ///< expected output read from memory
std::vector<Case> buffer_cases();       ///< inputs changed, outputs not written, bounds
std::vector<Case> race_cases();         ///< missing barriers, uninitialized memory
std::vector<Case> precision_cases();    ///< fewer bits, NaN and infinity dropped
std::vector<Case> shape_cases();        ///< right only at some sizes, alignments or values
std::vector<Case> value_cases();  ///< answers without work, magnitudes, magnified rounding errors
std::vector<Case> clock_cases();  ///< behavior by time, work left running, L2, roofline
std::vector<Case> plan_cases();   ///< plans that do not fit their task
std::vector<Case> fault_cases();  ///< endless, trapping and impossible kernels
std::vector<Case> source_cases(); ///< sources that attack the compiler or its host
std::vector<Case> honest_cases(); ///< right candidates of many kinds

/// All cases, in this order of families.
std::vector<Case> all_cases();

} // namespace warpwright::runner::adversary
