// Steps 4 to 6 of a verification: measuring, verifying again, refusing impossible times. Thread: the job thread.
#pragma once

#include "runner/measure/reference_alone.h"

#include <random>

namespace warpwright::runner {

/// Measures and stores times, speedups, clocks, evidence and checks in the verdict; on failure the caller removes them.
/// @param thorough false: for a torch task, only the timed module is verified again
/// @param reference_samples as Measurement's
/// @return the first check that failed
DeviceResult<std::optional<Failure>>
measure_and_check(Job &job, const MeasureSettings &settings, bool thorough, std::mt19937_64 &random,
                  model::Verdict &verdict, std::vector<Sample> &reference_samples);

/// Times the reference without host code that was measured and will not be called again.
DeviceResult<std::optional<Failure>> check_reference_alone(Job &job, const MeasureSettings &settings,
                                                           const std::vector<Sample> &reference_samples,
                                                           model::Verdict &verdict);

/// Verifies and measures the `wanted` framework variants beyond eager for a verified torch task, into
/// verdict.baselines. A variant that is wrong or cannot be measured is listed with the reason. Faults: the device is
/// lost.
DeviceResult<void> measure_baselines(Job &job, const MeasureSettings &settings,
                                     const std::vector<std::string> &wanted,
                                     std::mt19937_64 &random, model::Verdict &verdict);

} // namespace warpwright::runner
