// Rule that decides if a run's outputs are right, used by trials before and after timing and by
// timed runs.
//
// Against the fp64 reference, the candidate's error may not exceed the larger of the tolerance's
// floor and a small multiple of the reference's own error; without one, reference and candidate must
// agree within the tolerance. If the reference's own error is large, the bound is how far rounding
// the inputs moves the fp64 reference's output, and the judgement says so. Elements that rounding
// decides are right if it explains them (rounding_flips.h). Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// Device addresses of one output in both sides' runs. A single run fills both places of its side: its poison then
/// looks like neither, and an unwritten element counts as wrong.
struct OutputRuns {
  Address candidate[2] = {}, reference[2] = {};
  std::optional<Address> exact; ///< fp64 reference's output for the same inputs, float64
  std::uint64_t elements = 0;
};

struct Judgement {
  element::Survey survey{};         ///< of the reference's first run
  element::Comparison comparison{}; ///< the comparison in its final form
  element::Findings findings = element::no_findings();
  std::optional<std::string>
      fp64_note; ///< why the fp64 reference was not used, or what it explains beyond its bound
  bool only_noise = false; ///< for a torch task: the output is rounding error and nothing else
  std::optional<model::Conditioning> conditioning; ///< for an output that amplifies rounding
  std::optional<std::string> not_judged;           ///< of wide rows: why values were not judged
};

/// Largest allowed error, however bad the reference is, unless rounding the inputs moves the output as far.
inline constexpr double kWorstAllowed = 1e-2;

/// Root mean square of the surveyed output; 1 if that is 0 or not finite.
double scale_of(const element::Survey &survey);
/// The task's relative tolerance, or the rounding of one operation in the type if that is larger.
double least_tolerance(const model::Task &task, model::Dtype dtype);

/// @param compare_runs the candidate's two runs must agree to the bit
/// @param runs with at least one element
/// @param drawing if it has wide_rows_of: see wide_rows.h
/// @param asks_further allows further drawings and roundings before a value is called wrong
DeviceResult<Judgement> judge_output(Job &job, const Drawing &drawing, const model::Buffer &buffer,
                                     const OutputRuns &runs, bool compare_runs,
                                     bool asks_further = true);

/// The failure that the findings show, in words; nullopt: all is right.
DeviceResult<std::optional<Failure>> failure_of(Job &job, const Drawing &drawing,
                                                const model::Buffer &buffer,
                                                const Judgement &judgement);

} // namespace warpwright::runner
