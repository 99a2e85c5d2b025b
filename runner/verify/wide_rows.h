// Inputs whose rows are of very different magnitude, judged row by row.
//
// A plan that scales a whole matrix by its largest element, or computes with a type of a shorter range, is
// right on inputs of one magnitude and loses the small rows of others. So one input at a time has its rows
// scaled from 2^0 to 2^30 in bands, and each band of the output is judged by its own root mean square, against
// the fp64 reference and with the reference's own error as the yardstick. Where the reference itself errs there, nobody
// is blamed and the verdict says so. Thread: the job thread.
#pragma once

#include "runner/verify/conditioning.h"
#include "runner/verify/output_judge.h"

namespace warpwright::runner {

/// The bands of a buffer: rows are those of its last dimension, or single elements where it has no shape.
element::Bands wide_bands(const model::Buffer &buffer, std::uint64_t elements);

/// The inputs that are worth scaling, by index: of the large ones that are drawn as floating-point numbers of any magnitude, the first
/// two. Empty where the task has no fp64 reference to judge by.
std::vector<std::size_t> wide_inputs(const model::Task &task, const symbolic::Sizes &sizes);

/// As judge_output(), band by band. What cannot be judged there has Judgement::not_judged.
/// @param runs with `exact`
DeviceResult<Judgement> judge_wide_rows(Job &job, const Drawing &drawing,
                                        const model::Buffer &buffer, const OutputRuns &runs,
                                        bool compare_runs);

} // namespace warpwright::runner
