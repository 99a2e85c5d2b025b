// The C++ of a plan's extension: one function over tensors that runs the plan's steps on the current stream.
//
// Takes the task's In and InOut buffers in order, gives the outputs, or nothing when a tensor is not what the plan was verified for.
// Thread: pure functions.
#pragma once

#include "support/error.h"
#include "support/model/task.h"

#include <string>

namespace warpwright::server {

struct Extension {
  std::string declaration; ///< for `cpp_sources`
  std::string source;      ///< for `cuda_sources`: kernels and the function
};

inline constexpr const char *kExtensionFunction = "warpwright_forward";

/// Errors: a step that C++ cannot spell.
Result<Extension> write_extension(const model::Task &task, const model::Plan &plan);

} // namespace warpwright::server
