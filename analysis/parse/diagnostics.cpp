// Collector and filter of Clang's diagnostics.
// Thread: the parsing thread.
#include "analysis/parse/diagnostics.h"

#include <clang/Basic/DiagnosticIDs.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <array>
#include <set>

namespace warpwright::analysis {
namespace {

std::string text_of(const clang::Diagnostic &diagnostic) {
  llvm::SmallString<128> text;
  diagnostic.FormatDiagnostic(text);
  return std::string(text);
}

Severity severity_of(clang::DiagnosticsEngine::Level level) {
  if (level >= clang::DiagnosticsEngine::Error)
    return Severity::Error;
  return level == clang::DiagnosticsEngine::Warning ? Severity::Warning : Severity::Information;
}

/// Whether a declaration could not fix the error. Clang's category "Parse Issue" holds other errors
/// too.
bool is_grammar_error(unsigned id, std::string_view message) {
  const llvm::StringRef category = clang::DiagnosticIDs::getCategoryNameFromID(
      clang::DiagnosticIDs::getCategoryNumberForDiag(id));
  static constexpr std::array kBeginnings{
      "expected",   "extraneous", "unterminated",          "missing terminating",
      "unbalanced", "unmatched",  "invalid preprocessing", "unexpected"};
  return (category == "Parse Issue" || category == "Lexical or Preprocessor Issue") &&
         std::ranges::any_of(kBeginnings,
                             [&](const char *beginning) { return message.starts_with(beginning); });
}

/// The #include in a file through which `location` was reached; invalid if there is none. FileIDs
/// are compared, because SourceManager::isInMainFile follows #line directives and the built-in
/// definitions.
clang::SourceLocation include_in(clang::FileID file, const clang::SourceManager &sources,
                                 clang::SourceLocation location) {
  while (location.isValid() && sources.getFileID(location) != file)
    location = sources.getIncludeLoc(sources.getFileID(location));
  return location;
}

} // namespace

clang::FileID file_id_of(const clang::SourceManager &sources, const std::string &path) {
  if (path.empty())
    return sources.getMainFileID();
  const auto entry = sources.getFileManager().getOptionalFileRef(path);
  return entry ? sources.translateFile(*entry) : clang::FileID();
}

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                                           const clang::Diagnostic &diagnostic) {
  DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
  if (level < clang::DiagnosticsEngine::Warning || !diagnostic.hasSourceManager() ||
      diagnostic.getLocation().isInvalid())
    return;
  const clang::SourceManager &sources = diagnostic.getSourceManager();
  const clang::SourceLocation location = sources.getExpansionLoc(diagnostic.getLocation());
  const clang::FileID file = file_id_of(sources, path_);
  if (file.isInvalid())
    return;
  if (sources.getFileID(location) == file)
    return add(level, text_of(diagnostic), diagnostic.getID(), sources, location);
  const clang::SourceLocation include = include_in(file, sources, location);
  if (level < clang::DiagnosticsEngine::Error || include.isInvalid())
    return;
  const std::size_t offset = sources.getFileOffset(include);
  if (std::ranges::any_of(
          entries, [&](const auto &entry) { return entry.diagnostic.range.begin == offset; }))
    return;
  const llvm::StringRef name = llvm::sys::path::filename(sources.getFilename(location));
  add(level,
      "in " + name.str() + ":" + std::to_string(sources.getSpellingLineNumber(location)) + ": " +
          text_of(diagnostic),
      diagnostic.getID(), sources, include);
}

void DiagnosticCollector::add(clang::DiagnosticsEngine::Level level, std::string message,
                              unsigned id, const clang::SourceManager &sources,
                              clang::SourceLocation location) {
  CollectedDiagnostic entry;
  entry.is_grammar = is_grammar_error(id, message);
  entry.diagnostic.rule = "syntax";
  entry.diagnostic.severity = severity_of(level);
  entry.diagnostic.message = std::move(message);
  entry.diagnostic.line = sources.getSpellingLineNumber(location);
  entry.diagnostic.column = sources.getSpellingColumnNumber(location);
  const std::size_t begin = sources.getFileOffset(location);
  entry.diagnostic.range = {
      begin, begin + clang::Lexer::MeasureTokenLength(location, sources, clang::LangOptions())};
  entries.push_back(std::move(entry));
}

void FirstError::HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                                  const clang::Diagnostic &diagnostic) {
  if (level >= clang::DiagnosticsEngine::Error && message.empty())
    message = text_of(diagnostic);
}

std::vector<Diagnostic> believable(std::vector<CollectedDiagnostic> entries,
                                   bool headers_were_skipped) {
  std::vector<Diagnostic> result;
  std::set<std::size_t> doubtful_lines;
  for (CollectedDiagnostic &entry : entries) {
    if (headers_were_skipped && !entry.is_grammar)
      doubtful_lines.insert(entry.diagnostic.line);
    else if (!doubtful_lines.contains(entry.diagnostic.line))
      result.push_back(std::move(entry.diagnostic));
  }
  return result;
}

} // namespace warpwright::analysis
