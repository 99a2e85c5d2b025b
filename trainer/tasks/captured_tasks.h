// Tasks from a recorded run of a program (`warpwright capture`): its kernels, at the sizes at which
// they were launched.
//
// The sources are the .cu files below the folder in which the program was started. The numbers that
// a launch passed go into a comment above the kernel (docs/use/task-comments.md), which replaces
// sizes that the text alone does not show. Grids, blocks and buffers are inferred from the source
// as ever. Thread: any.
#pragma once

#include "trainer/tasks/task_sources.h"

namespace warpwright::trainer {

/// Whether a folder is a capture.
bool is_capture(const std::filesystem::path &folder);

/// One task for each different list of numbers of each kernel, the launches with the most GPU time
/// first. Kernels without a source, and launches without recorded parameters, are skipped with a
/// reason. Errors: an unreadable capture; one without such a task.
Result<ChosenTasks> import_capture(const std::filesystem::path &folder, Split split);

/// A parameter of a kernel as its source declares it.
struct DeclaredParameter {
  enum class Kind { Integer, Float, Other };
  std::string name;
  Kind kind = Kind::Other; ///< Other: pointers, structs, types of templates
};

/// The parameters of a `__global__` function, found without parsing. nullopt: it is not there.
std::optional<std::vector<DeclaredParameter>> declared_parameters(const std::string &text,
                                                                  const std::string &kernel);

} // namespace warpwright::trainer
