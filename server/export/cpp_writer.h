// Writer of a verified plan as C++ into the user's own file: the function's body calls the plan's kernels.
//
// The file gets a namespace with the kernels as text and the plan's steps: launches on the current stream and calls of
// ATen. NVRTC, opened with dlopen so that no library must be linked, compiles the kernels at the first call. The user's
// body stays as `NAME_as_written`. It runs where a call differs from the verified one: shapes, dtypes, layout, numbers,
// kind of GPU, gradients. The text depends only on torch with CUDA. Plans with keyword arguments are not supported.
#pragma once

#include "analysis/facts.h"

namespace warpwright::server {

struct CppVariant {
  std::string comment; ///< measured results, one line or more
  std::string plan;    ///< first digits of the plan's hash
  /// Capability of the GPU that verified the plan; 0 when none did: the kernels are then compiled for any GPU.
  int compute_capability = 0;
};

/// The module's file with the variant in place of the function.
/// Errors: a task that is no C++ function, or a step that C++ cannot express.
/// @param function facts about the function in the module's source
Result<std::string> write_cpp_variant(const model::Task &task, const analysis::Kernel &function,
                                      const model::Plan &plan, const CppVariant &variant);

/// The edits that put the variant into `text`, the user's file, which may have changed around the function.
/// @param source, variant the file when it was measured, without and with the variant
/// Errors: the function or the code around it has changed.
Result<std::vector<TextEdit>>
cpp_variant_edits(const std::string &source, const std::string &variant, const std::string &text);

} // namespace warpwright::server
