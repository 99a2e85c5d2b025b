// Sizes that a recorded run gives where the text of a program does not. Thread: the unit's thread.
#pragma once

#include "analysis/facts.h"
#include "analysis/task/launch_draft.h"

namespace warpwright::analysis {

/// The value of a root for which an integer parameter is what it was in the run; nullopt: no parameter tells it.
std::optional<std::int64_t> captured_size(const std::string &root, const LaunchDraft &draft, const Spec &spec);

/// True if the host code, as it was read, launches the kernel with the grid and the block of the run.
bool is_launched_as(const model::Task &task, const CapturedLaunch &captured);

} // namespace warpwright::analysis
