// Facts of a task's kernel as numbers by name, for the learned cost model (trainer/ranker).
//
// The kernel is the one of the task's reference, whose source is parsed alone, so that a recorded task and an open
// file give the same numbers. Accesses count by memory space, pattern and loop depth. Every name is always present,
// except numbers that the analysis cannot know. The names are part of the model's weights file. Thread: any.
#pragma once

#include "analysis/facts.h"
#include "support/error.h"

#include <map>
#include <string>

namespace warpwright::search {

using KernelNumbers = std::map<std::string, double>;

/// Errors: the reference launches no kernel; its source cannot be analyzed.
Result<KernelNumbers> kernel_numbers(const model::Task &task);
/// The numbers of a kernel's facts.
KernelNumbers kernel_numbers(const analysis::Kernel &kernel);

} // namespace warpwright::search
