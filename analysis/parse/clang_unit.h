// A ParsedUnit over a live CompilerInstance: what the stub pass and the full pass both end in.
//
// Private to analysis/parse. Owns everything the AST points into: invocation, file system, source
// text. Leaves out code generation and instantiation statistics. Thread: one at a time.
#pragma once

#include "analysis/parse/diagnostics.h"
#include "analysis/parsed_unit.h"

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>

#include <memory>
#include <string>

namespace warpwright::analysis {

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>;

struct UnitOptions {
  Pass pass = Pass::Stub;
  /// Headers that do not exist are skipped in silence, and what follows from that is not reported.
  bool skip_missing_headers = false;
  std::vector<CollectedDiagnostic> earlier;    ///< from the preamble
  std::shared_ptr<const void> keep_alive = {}; ///< what the tree borrows from: the preamble
};

/// Turns driver arguments ("-x", "cuda", ...) into an invocation for `path`. Errors: a flag that
/// Clang refuses, named.
Result<std::unique_ptr<clang::CompilerInvocation>>
make_invocation(const std::vector<std::string> &arguments, const std::string &path,
                FileSystem files);

/// `files` with `file` laid over it.
FileSystem with_file(FileSystem files, const SourceFile &file);

/// Parses `file` (which `files` must already serve, or the invocation remap). Errors: Clang cannot
/// start.
Result<std::unique_ptr<ParsedUnit>> parse(SourceFile file,
                                          std::unique_ptr<clang::CompilerInvocation> invocation,
                                          FileSystem files, UnitOptions options);

/// The path under which Clang sees a file: absolute, also for an unsaved buffer.
std::string absolute_path(const std::string &path, const std::string &directory);

} // namespace warpwright::analysis
