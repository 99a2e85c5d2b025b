// A verified plan as C++ in the user's own file: the function's body calls the plan's kernels.
//
// Beside the function comes a namespace with the kernels as text, which NVRTC compiles at the first call (opened with dlopen, so that
// nothing more is linked), and the plan's steps: launches on the current stream, and calls of ATen. The user's body stays, as
// `NAME_as_written`, and is called where anything differs from what the plan was verified for: shapes, dtypes, layout, numbers, a GPU of
// another kind, gradients. The text needs torch with CUDA and nothing of ours. It leaves out plans with calls by keyword.
// Thread: pure functions.
#pragma once

#include "analysis/facts.h"

namespace warpwright::server {

struct CppVariant {
  std::string comment; ///< what was measured, one line or more
  std::string plan;    ///< first digits of its hash
  /// Of the GPU that verified; 0: none did, and the kernels are compiled for whatever is there.
  int compute_capability = 0;
};

/// The module's file with the variant in place of the function.
/// Errors: a task that is no C++ function, or a step that C++ cannot spell.
/// @param function facts of the module's source
Result<std::string> write_cpp_variant(const model::Task &task, const analysis::Kernel &function,
                                      const model::Plan &plan, const CppVariant &variant);

/// The edits that put the variant into `text`, which may have changed around the function since.
/// @param source, variant the file as it was measured, and with the variant
/// Errors: the function, or what comes before it, is not as it was.
Result<std::vector<TextEdit>>
cpp_variant_edits(const std::string &source, const std::string &variant, const std::string &text);

} // namespace warpwright::server
