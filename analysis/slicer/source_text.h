// One source file as the slicer sees it: raw tokens, preprocessor directives, and the extents of
// declarations.
//
// The slicer copies text, it never prints the AST, so that a slice keeps the user's spelling,
// comments and macros. Clang says which declarations exist; where one starts and ends is a question
// of tokens (attributes and macros make the AST's own ranges unreliable). Leaves out macro
// expansion. Thread: values, any.
#pragma once

#include "support/text.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace warpwright::analysis::slicer {

struct Token {
  Range range;
  bool is_identifier = false;
  bool in_directive = false;
};

struct Directive {
  enum class Kind { Define, Undef, Include, If, Elif, Else, Endif, Pragma, Other };
  Kind kind = Kind::Other;
  Range range;            ///< from '#' to the end of its last line
  std::string name;       ///< of the macro, or the include's target without quotes
  bool is_quoted = false; ///< `#include "..."`
};

struct SourceText {
  std::string path;    ///< as Clang knows it
  std::string display; ///< for #line
  std::string text;
  std::vector<Token> tokens;
  std::vector<Directive> directives;
  std::map<std::size_t, std::size_t>
      includes; ///< offset of an #include -> index of the file it read

  std::string_view of(Range range) const {
    return std::string_view(text).substr(range.begin, range.size());
  }
  std::string_view of(const Token &token) const { return of(token.range); }
};

/// Never fails: what is no token is skipped.
SourceText read_source(std::string path, std::string display, std::string text);

/// Index of the first token that ends after `offset`.
std::size_t token_at(const SourceText &source, std::size_t offset);

/// The whole declaration at namespace scope around `offset`: back to the end of the one before,
/// forward to its
/// `;`, or to the `}` of a function body when `is_function`.
Range declaration_around(const SourceText &source, std::size_t offset, bool is_function);

/// Identifiers in `range`, those of directives included.
void collect_identifiers(const SourceText &source, Range range, std::set<std::string> &identifiers);

} // namespace warpwright::analysis::slicer
