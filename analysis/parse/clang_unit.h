// A ParsedUnit over a live CompilerInstance, the result of both the stub pass and the full pass.
//
// Private to analysis/parse. It owns everything that the AST points to: invocation, file system,
// source text. Nothing is compiled beyond the syntax check. Thread: one at a time.
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
  /// Skips missing headers silently, and does not report errors that may follow from them.
  bool skip_missing_headers = false;
  std::vector<CollectedDiagnostic> earlier;    ///< diagnostics from the preamble
  bool is_included = false; ///< the file is not the invocation's, but one that it includes
  std::shared_ptr<const void> keep_alive = {}; ///< objects that the AST points into: the preamble
};

/// Turns driver arguments ("-x", "cuda", ...) into an invocation for `path`.
/// Errors: a flag that Clang rejects; the message names it.
Result<std::unique_ptr<clang::CompilerInvocation>>
make_invocation(const std::vector<std::string> &arguments, const std::string &path,
                FileSystem files);

/// `files` with `file` as an overlay.
FileSystem with_file(FileSystem files, const SourceFile &file);

/// Parses `file`. Either `files` serves it already, or the invocation remaps it.
/// Errors: Clang cannot start, or does not reach an included file.
Result<std::unique_ptr<ParsedUnit>> parse(SourceFile file,
                                          std::unique_ptr<clang::CompilerInvocation> invocation,
                                          FileSystem files, UnitOptions options);

/// The absolute path under which Clang sees a file; unsaved buffers get one too.
std::string absolute_path(const std::string &path, const std::string &directory);

} // namespace warpwright::analysis
