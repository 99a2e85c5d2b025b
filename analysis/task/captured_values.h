// Distributions of buffers as a recorded run of the program had them. Thread: any.
#pragma once

#include "analysis/facts.h"

namespace warpwright::analysis {

/// The distribution of a buffer, for its task's sizes and for others: bounds of integers become expressions where a
/// size of the task, or the number of elements of a buffer, explains them. An integer that no size explains keeps its
/// bounds.
/// @param index_bound exclusive bound of integers that index another buffer, from the kernel's text
/// @return nullopt: the values say nothing that is of use, as floats that are all equal
std::optional<model::Distribution>
captured_distribution(const CapturedValues &values, model::Dtype dtype, const model::Task &task,
                      const std::optional<symbolic::Expression> &index_bound);

} // namespace warpwright::analysis
