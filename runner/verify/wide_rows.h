// Judging of inputs whose rows differ widely in magnitude, row by row.
//
// A plan that scales a whole matrix by its largest element, or computes in a type of shorter range, is right on inputs
// of one magnitude and loses the small rows of others. So one input at a time gets rows scaled from 2^0 to 2^30 in
// bands, and each band of the output is judged by its own root mean square against the fp64 reference, relative to the
// reference's own error. If the reference itself errs, nobody is blamed and the verdict says so. Thread: the job
// thread.
#pragma once

#include "runner/verify/conditioning.h"
#include "runner/verify/output_judge.h"

namespace warpwright::runner {

/// Bands of a buffer over the rows of its last dimension, or over elements if it has no shape.
element::Bands wide_bands(const model::Buffer &buffer, std::uint64_t elements);

/// Indices of the inputs to scale: the first two large ones drawn as floating-point numbers of any magnitude. Empty:
/// the task has no fp64 reference.
std::vector<std::size_t> wide_inputs(const model::Task &task, const symbolic::Sizes &sizes);

/// Like judge_output(), band by band. Judgement::not_judged is set if judging is impossible.
/// @param runs with `exact`
DeviceResult<Judgement> judge_wide_rows(Job &job, const Drawing &drawing,
                                        const model::Buffer &buffer, const OutputRuns &runs,
                                        bool compare_runs);

} // namespace warpwright::runner
