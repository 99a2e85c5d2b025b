// Clang's diagnostics as this project's, and the choice of which of them to believe.
//
// Private to analysis/parse. When headers were skipped, a name that nobody declared proves nothing,
// so only errors of grammar are reported then, and of those only the ones that do not follow from
// an unknown name on their line. Thread: that of the parse.
#pragma once

#include "analysis/facts.h"

#include <clang/Basic/Diagnostic.h>
#include <string>
#include <vector>

namespace warpwright::analysis {

struct CollectedDiagnostic {
  Diagnostic diagnostic;
  bool is_grammar = false;
};

/// Keeps errors and warnings of the main file, and of each #include in it the first error inside.
class DiagnosticCollector : public clang::DiagnosticConsumer {
public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &diagnostic) override;

  std::vector<CollectedDiagnostic> entries;

private:
  void add(clang::DiagnosticsEngine::Level level, std::string message, unsigned id,
           const clang::SourceManager &sources, clang::SourceLocation location);
};

/// Keeps the first error only: for parsing flags.
class FirstError : public clang::DiagnosticConsumer {
public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &diagnostic) override;

  std::string message;
};

std::vector<Diagnostic> believable(std::vector<CollectedDiagnostic> entries,
                                   bool headers_were_skipped);

} // namespace warpwright::analysis
