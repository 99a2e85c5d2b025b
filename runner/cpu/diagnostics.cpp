// Formatting of diagnostics, one per line, and classification of errors: errors in the source, or
// constructs that the backend lacks.
#include "runner/cpu/diagnostics.h"

#include "runner/cpu/header_files.h"

#include <array>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <llvm/ADT/SmallString.h>

namespace warpwright::runner::cpu {
namespace {

constexpr llvm::StringLiteral kMarker = "warpwright-unsupported: ";

/// The text between the first pair of single quotes, which is the name in a diagnostic.
llvm::StringRef quoted(llvm::StringRef text) { return text.split('\'').second.split('\'').first; }

/// Names that only CUDA's headers or compiler define.
bool looks_like_cuda(llvm::StringRef name) {
  static constexpr std::array kPrefixes = {
      "__", "cuda", "nvcuda", "cub",  "thrust", "cooperative_groups",
      "cg", "tex",  "surf",   "wmma", "curand"};
  for (llvm::StringRef prefix : kPrefixes)
    if (name.starts_with(prefix))
      return true;
  return false;
}

std::optional<std::string> reason_of(llvm::StringRef text) {
  if (size_t at = text.find(kMarker); at != llvm::StringRef::npos)
    return text.substr(at + kMarker.size()).str();
  if (text.ends_with("file not found"))
    return "the header " + quoted(text).str() + ", which the CPU backend does not have";
  if (text.contains(" in asm") || text.contains("inline assembly"))
    return "inline PTX";
  const bool unknown = text.contains("undeclared identifier") ||
                       text.contains("unknown type name") || text.contains("no member named") ||
                       text.contains("no template named");
  if (unknown) {
    llvm::StringRef scope = text.rsplit(" in ").second;
    if (!quoted(text).starts_with("__ww_") && looks_like_cuda(quoted(text)))
      return "'" + quoted(text).str() + "', which the CPU backend does not have";
    if (text.contains("namespace 'cooperative_groups") || text.contains("namespace 'cuda") ||
        looks_like_cuda(quoted(scope)))
      return "'" + quoted(text).str() + "', which the CPU backend does not have";
  }
  if (text.contains("kernel call to non-global function") ||
      text.contains("kernel launch from __device__"))
    return "dynamic parallelism";
  return std::nullopt;
}

} // namespace

std::string describe_location(const clang::SourceManager &sources, clang::SourceLocation location) {
  clang::PresumedLoc presumed = sources.getPresumedLoc(sources.getExpansionLoc(location));
  // An #error in one of the backend's headers belongs to the line that includes it.
  while (presumed.isValid() && llvm::StringRef(presumed.getFilename()).starts_with(kHeaderFolder) &&
         presumed.getIncludeLoc().isValid())
    presumed = sources.getPresumedLoc(presumed.getIncludeLoc());
  if (presumed.isInvalid())
    return {};
  llvm::StringRef file = presumed.getFilename();
  if (file.starts_with(kHeaderFolder))
    return {};
  if (file == kMainFile)
    return "line " + std::to_string(presumed.getLine());
  return file.str() + ":" + std::to_string(presumed.getLine());
}

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                                           const clang::Diagnostic &diagnostic) {
  DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
  if (level < clang::DiagnosticsEngine::Warning && !first_error_)
    return;
  llvm::SmallString<128> text;
  diagnostic.FormatDiagnostic(text);
  std::string position;
  if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid())
    position = describe_location(diagnostic.getSourceManager(), diagnostic.getLocation());
  const bool error = level >= clang::DiagnosticsEngine::Error;
  const char *kind = error                                        ? "error: "
                     : level == clang::DiagnosticsEngine::Warning ? "warning: "
                                                                  : "note: ";
  std::string line = (position.empty() ? "" : position + ": ") + kind + text.str().str();
  log_ += line + "\n";
  if (level == clang::DiagnosticsEngine::Note && !has_note_ && first_error_) {
    *first_error_ += " (" + line + ")";
    has_note_ = true;
  }
  if (!error)
    return;
  if (!unsupported_)
    if (std::optional<std::string> reason = reason_of(text)) {
      unsupported_ = *reason + (position.empty() ? "" : " (" + position + ")");
    }
  // After a missing brace, Clang first reports errors in the code that follows, so the error about
  // the brace replaces them.
  const bool brace = text == "expected '}'";
  if (!first_error_ || brace) {
    first_error_ = line;
    has_note_ = false;
  } else {
    has_note_ = true;
  }
}

} // namespace warpwright::runner::cpu
