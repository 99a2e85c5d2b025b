// The analysis of a file whose project is not the disk's: a version of Git, or files in memory.
// Thread: any; calls share no state.
#pragma once

#include "analysis/analyze.h"

namespace warpwright::analysis {

/// analyze() with the project's other files from `files`.
FileFacts analyze_in(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, const SourceFile &file,
                     const ParseSettings &settings = {}, const AnalyzeOptions &options = {});

} // namespace warpwright::analysis
