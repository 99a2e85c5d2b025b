// Whether the outputs of a run are right: the one rule, for the trials before and after timing and for timed
// runs.
//
// Against the fp64 reference the candidate's error may not exceed the larger of the tolerance's floor and a
// small multiple of the reference's own error; without one, reference and candidate must agree within the
// tolerance. Where the reference's own error is large, the bound follows from how far rounding of the inputs moves the fp64
// reference's output, and the judgement says so. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// One output of both sides' runs, as device addresses. Where one run stands for both, it stands in both
/// places: its poison then looks like neither, and an unwritten element counts as wrong.
struct OutputRuns {
  Address candidate[2] = {}, reference[2] = {};
  std::optional<Address> exact; ///< of the fp64 reference on the same inputs, float64
  std::uint64_t elements = 0;
};

struct Judgement {
  element::Survey survey{};         ///< of the reference's first run
  element::Comparison comparison{}; ///< as it was judged in the end
  element::Findings findings = element::no_findings();
  std::optional<std::string> fp64_note; ///< why the fp64 reference was not used
  bool only_noise = false; ///< of a torch task: the output is rounding error and nothing else
  std::optional<model::Conditioning> conditioning; ///< of an output that magnifies rounding
  std::optional<std::string> not_judged;           ///< of wide rows: why its values were left alone
};

/// However bad the reference is, a candidate may not be worse than this, unless rounding of the inputs alone moves the output as far.
inline constexpr double kWorstAllowed = 1e-2;

/// Root mean square of what was surveyed; 1 where that is 0 or not finite.
double scale_of(const element::Survey &survey);
/// The task's relative tolerance, or the rounding of one operation in the type where that is more.
double least_tolerance(const model::Task &task, model::Dtype dtype);

/// @param compare_runs the candidate's two runs must agree to the bit
/// @param runs with at least one element
/// @param drawing with wide_rows_of: see wide_rows.h
/// @param asks_further whether further drawings and roundings may be asked before a value is called wrong
DeviceResult<Judgement> judge_output(Job &job, const Drawing &drawing, const model::Buffer &buffer,
                                     const OutputRuns &runs, bool compare_runs,
                                     bool asks_further = true);

/// The failure that the findings mean, in words; nullopt when all is right.
DeviceResult<std::optional<Failure>> failure_of(Job &job, const Drawing &drawing,
                                                const model::Buffer &buffer,
                                                const Judgement &judgement);

} // namespace warpwright::runner
