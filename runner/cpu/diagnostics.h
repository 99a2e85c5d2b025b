// Clang's diagnostics as text, and what they mean for the verdict: an error in the source, or a
// construct that only this backend lacks.
//
// The second kind says nothing about the candidate, so it must never be reported as a failed
// compilation: texts marked "warpwright-unsupported:" in the shim, headers that it does not have,
// inline PTX, and unknown names that look like CUDA's own.
#pragma once

#include <clang/Basic/Diagnostic.h>
#include <optional>
#include <string>

namespace warpwright::runner::cpu {

class DiagnosticCollector : public clang::DiagnosticConsumer {
public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &diagnostic) override;

  /// "file:line:column: error: text" a line, in the user's positions as `#line` gives them.
  const std::string &log() const { return log_; }
  const std::optional<std::string> &first_error() const { return first_error_; }
  /// "inline PTX (k.cu:12)"; set by the first error that only this backend has.
  const std::optional<std::string> &unsupported() const { return unsupported_; }

private:
  std::string log_;
  std::optional<std::string> first_error_;
  bool has_note_ = false; ///< no further note belongs to the first error
  std::optional<std::string> unsupported_;
};

/// "k.cu:12" of a presumed location; empty inside the backend's own headers.
std::string describe_location(const clang::SourceManager &sources, clang::SourceLocation location);

} // namespace warpwright::runner::cpu
