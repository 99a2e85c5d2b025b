// The list of a program's kernels by what they could save, from a recorded run, for `warpwright analyze`.
// Thread: values, any.
#pragma once

#include "analysis/facts.h"

#include <nlohmann/json.hpp>

namespace warpwright::cli {

/// Each launched kernel of a file: name, file, launches, time, share of the run's GPU time, and the part of the GPU
/// time that it could save. The least time of a launch is estimated from the bytes and operations of its task, where
/// that is known.
nlohmann::json program_time(const analysis::FileFacts &facts);

/// The kernels of all files, by what they could save, most first.
void sort_by_saving(nlohmann::json &kernels);

/// A table for a terminal; empty without kernels. @param kernels sorted
std::string render_program_time(const nlohmann::json &kernels);

} // namespace warpwright::cli
