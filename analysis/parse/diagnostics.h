// Conversion of Clang's diagnostics, and selection of the reliable ones.
//
// Private to analysis/parse. If headers were skipped, an undeclared name proves nothing. Then only
// grammar errors are reported, and only on lines without an earlier other error. Thread: the
// parsing thread.
#pragma once

#include "analysis/facts.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceManager.h>
#include <string>
#include <vector>

namespace warpwright::analysis {

struct CollectedDiagnostic {
  Diagnostic diagnostic;
  bool is_grammar = false;
};

/// Where Clang has a file that it has entered; an empty path means the main file. Invalid: Clang
/// has not entered it.
clang::FileID file_id_of(const clang::SourceManager &sources, const std::string &path);

/// Keeps the errors and warnings of one file, and the first error inside each of its #includes.
class DiagnosticCollector : public clang::DiagnosticConsumer {
public:
  /// @param path the file; empty: the main file
  explicit DiagnosticCollector(std::string path = {}) : path_(std::move(path)) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &diagnostic) override;

  std::vector<CollectedDiagnostic> entries;

private:
  void add(clang::DiagnosticsEngine::Level level, std::string message, unsigned id,
           const clang::SourceManager &sources, clang::SourceLocation location);

  std::string path_;
};

/// Keeps only the first error; used for parsing flags.
class FirstError : public clang::DiagnosticConsumer {
public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &diagnostic) override;

  std::string message;
};

std::vector<Diagnostic> believable(std::vector<CollectedDiagnostic> entries,
                                   bool headers_were_skipped);

} // namespace warpwright::analysis
