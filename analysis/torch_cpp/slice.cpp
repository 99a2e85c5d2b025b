// The text of a function or class with its dependencies, as its user wrote it: what Warpwright's variant (server/export/cpp_writer.h) puts
// into the file is taken out again, and white space does not count.
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

/// One space between words, and no #line directives: both change when something else in the file does.
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

/// Erases a variant's function that calls kernels, in place of which stands the user's body.
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
    replace_all(text, word, ""); // the user's body loses them when a variant takes its place
  return in_words(text);
}

} // namespace warpwright::analysis::torch_cpp
