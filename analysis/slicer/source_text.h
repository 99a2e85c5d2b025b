// A source file for the slicer: raw tokens, preprocessor directives, and extents of declarations.
//
// The slicer copies text and never prints the AST, so a slice keeps the user's spelling, comments
// and macros. Clang tells which declarations exist. Their start and end come from the tokens,
// because attributes and macros make the AST's own ranges unreliable. Macros are not expanded.
// Thread: any (plain values).
#pragma once

#include "support/text.h"

#include <functional>
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
  std::string name;       ///< name of the macro, or the include's target without quotes
  bool is_quoted = false; ///< `#include "..."`
};

struct SourceText {
  std::string path;    ///< Clang's path of the file
  std::string display; ///< name in #line directives
  std::string text;
  std::vector<Token> tokens;
  std::vector<Directive> directives;
  std::map<std::size_t, std::size_t>
      includes; ///< offset of an #include -> index of the included file

  std::string_view of(Range range) const {
    return std::string_view(text).substr(range.begin, range.size());
  }
  std::string_view of(const Token &token) const { return of(token.range); }
};

/// Never fails; characters that form no token are skipped.
SourceText read_source(std::string path, std::string display, std::string text);

/// Index of the first token that ends after `offset`.
std::size_t token_at(const SourceText &source, std::size_t offset);

/// The declaration around `offset`: from the end of the previous one to its `;`, or to the `}` of the body if
/// `is_function`. A conditional group in its midst belongs to it.
/// @param before tokens of one character that end what stands before it
Range declaration_around(const SourceText &source, std::size_t offset, bool is_function,
                         std::string_view before = ";{}");

/// Adds the identifiers in `range`, including those in directives.
void collect_identifiers(const SourceText &source, Range range, std::set<std::string> &identifiers);

/// Calls `visit(name, offset)` for each `std::name` in `range`; those of cuda::std are left out.
void for_each_std(const SourceText &source, Range range, const std::function<void(const std::string &, std::size_t)> &visit);

} // namespace warpwright::analysis::slicer
