// Device source of somebody else joined to the user's file: which of its declarations take the kernel's place, and which includes come new.
//
// A declaration that the file has alike is left out; one that the file has otherwise is an error, because nothing says which is meant.
// Leaves out namespaces, preprocessor conditions and host code. Thread: that of the units.
#pragma once

#include "analysis/slicer/declarations.h"

namespace warpwright::generator {

struct MergedSource {
  std::string text;     ///< to stand in the kernel's place
  std::string includes; ///< that the file lacks, a line each
};

/// @param kernel its name in the file @param answered its name in the answer; comes out as `kernel`
/// Errors: why the file cannot take it.
Result<MergedSource> merge_source(const analysis::slicer::Inventory &file,
                                  const analysis::slicer::Inventory &answer,
                                  const std::string &kernel, const std::string &answered);

} // namespace warpwright::generator
