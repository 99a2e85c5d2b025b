// Collector of Clang's diagnostics: their text, and whether an error is in the source or comes from
// a construct that only this backend lacks.
//
// A missing construct says nothing about the candidate, so it is never reported as a failed
// compilation. Errors of this kind are texts marked "warpwright-unsupported:" in the shim, headers
// that the shim does not have, inline PTX, and unknown names that look like CUDA's own.
#pragma once

#include <clang/Basic/Diagnostic.h>
#include <optional>
#include <string>

namespace warpwright::runner::cpu {

class DiagnosticCollector : public clang::DiagnosticConsumer {
public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &diagnostic) override;

  /// One diagnostic per line: "line 12: error: text" or "other.cuh:12: error: text", with positions
  /// in the user's files as `#line` gives them.
  const std::string &log() const { return log_; }
  const std::optional<std::string> &first_error() const { return first_error_; }
  /// The first construct that only this backend lacks: "inline PTX (line 12)".
  const std::optional<std::string> &unsupported() const { return unsupported_; }

private:
  std::string log_;
  std::optional<std::string> first_error_;
  bool has_note_ = false; ///< later notes do not belong to the first error
  std::optional<std::string> unsupported_;
};

/// The presumed location as "line 12" in the main file and "other.cuh:12" elsewhere. Empty inside
/// the backend's own headers.
std::string describe_location(const clang::SourceManager &sources, clang::SourceLocation location);

} // namespace warpwright::runner::cpu
