// The text of a function or class with its dependencies as the user wrote it. The additions of
// Warpwright's variant (server/export/cpp_writer.h) are removed, and white space is normalized.
// Thread: the unit's thread.
#include "analysis/analyze.h"
#include "analysis/torch_cpp/functions.h"

#include <cctype>

namespace warpwright::analysis::torch_cpp {
namespace {

constexpr std::string_view kAsWritten = "_as_written";
constexpr const char *kMadeAsVerified = "warpwright_made_as_verified_";

void replace_all(std::string &text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); !what.empty() && at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// Erases each part from `begin` to the next `end`.
void erase_all(std::string &text, std::string_view begin, std::string_view end) {
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    const std::size_t last = text.find(end, at);
    text.erase(at, last == std::string::npos ? last : last + end.size() - at);
  }
}

/// Joins words with one space and removes #line directives: both depend on other parts of the file.
std::string in_words(const std::string &text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("#line"))
      continue;
    for (const char c : line)
      if (!std::isspace(static_cast<unsigned char>(c)))
        result += c;
      else if (!result.empty() && !std::isspace(static_cast<unsigned char>(result.back())))
        result += ' ';
    if (!result.empty() && !std::isspace(static_cast<unsigned char>(result.back())))
      result += line.starts_with("#") ? '\n' : ' ';
  }
  return result;
}

/// Erases a variant's function that calls kernels, and restores the user's body in its place.
void restore(const ParsedUnit &unit, const clang::FunctionDecl &own, std::string &text) {
  const std::string kept = own.getNameAsString();
  const std::string name = kept.substr(0, kept.size() - kAsWritten.size());
  for (const clang::Decl *declaration : own.getDeclContext()->getRedeclContext()->decls()) {
    const auto *other = llvm::dyn_cast<clang::FunctionDecl>(declaration);
    if (!other || !other->getIdentifier())
      continue;
    const clang::FunctionDecl *definition = nullptr;
    if (other->getName() == name && other->hasBody(definition))
      replace_all(text, unit.text_of(definition->getSourceRange()), "");
    if (other->getName() == kept && !other->doesThisDeclarationHaveABody())
      replace_all(text, std::string(unit.text_of(other->getSourceRange())) + ";", "");
  }
  erase_all(text, std::string("bool ") + kMadeAsVerified, "constructor's arguments");
  erase_all(text, std::string(kMadeAsVerified) + " = ", ";");
  replace_all(text, kept, name);
}

} // namespace

std::string slice_of(const ParsedUnit &unit, const clang::NamedDecl &declaration,
                     const clang::FunctionDecl &own) {
  const auto slice = slice_host(unit, declaration);
  std::string text = slice ? *slice : unit.file().text;
  if (own.getNameAsString().ends_with(kAsWritten))
    restore(unit, own, text);
  for (const char *word : {"virtual ", " override", " final"})
    replace_all(text, word, ""); // missing from the user's body when a variant replaces it
  return in_words(text);
}

} // namespace warpwright::analysis::torch_cpp
