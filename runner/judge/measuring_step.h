// Steps 4 to 6 of a verification: measure, verify again, refuse the impossible. Thread: the job thread.
#pragma once

#include "runner/measure/reference_alone.h"

#include <random>

namespace warpwright::runner {

/// Measures and puts times, speedups, clocks, evidence and checks into the verdict. What a failure leaves
/// there is for the caller to take back.
/// @param thorough false: of a torch task, only the module that was timed is verified again
/// @param reference_samples as Measurement's
/// @return the first check that failed
DeviceResult<std::optional<Failure>>
measure_and_check(Job &job, const MeasureSettings &settings, bool thorough, std::mt19937_64 &random,
                  model::Verdict &verdict, std::vector<Sample> &reference_samples);

/// Of host code that was measured, and will not be called again: times the reference without it.
DeviceResult<std::optional<Failure>> check_reference_alone(Job &job, const MeasureSettings &settings,
                                                           const std::vector<Sample> &reference_samples,
                                                           model::Verdict &verdict);

/// Of a torch task that was verified: the framework variants beyond eager that are `wanted`, into verdict.baselines. One that cannot be
/// measured is named there with the reason. Faults: the device is lost.
DeviceResult<void> measure_baselines(Job &job, const MeasureSettings &settings,
                                     const std::vector<std::string> &wanted,
                                     model::Verdict &verdict);

} // namespace warpwright::runner
