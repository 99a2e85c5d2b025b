// Lexer of the scanner, and bracket matching.
// Thread: any.
#include "analysis/scan/tokens.h"

#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <string>

namespace warpwright::analysis {
namespace {

using clang::tok::TokenKind;

clang::LangOptions cuda_options() {
  clang::LangOptions options;
  options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 = true;
  options.CUDA = options.LineComment = options.Bool = true;
  return options;
}

bool opens(TokenKind kind) {
  return kind == clang::tok::l_paren || kind == clang::tok::l_square || kind == clang::tok::l_brace;
}

bool closes(TokenKind kind) {
  return kind == clang::tok::r_paren || kind == clang::tok::r_square || kind == clang::tok::r_brace;
}

/// Lexes one text. Skips directives, and the text between `#if 0` and its `#else`, `#elif` or
/// `#endif`.
class Scanner {
public:
  explicit Scanner(const std::string &text)
      : text_(text), lexer_(clang::SourceLocation(), options_, text.data(), text.data(),
                            text.data() + text.size()) {}

  std::vector<ScanToken> run() {
    std::vector<ScanToken> tokens;
    bool after_directive = false;
    next();
    while (token_.isNot(clang::tok::eof)) {
      if (token_.is(clang::tok::hash) && token_.isAtStartOfLine()) {
        directive();
        after_directive = true;
        continue;
      }
      if (!is_off()) {
        const std::size_t end = lexer_.getBufferLocation() - text_.data();
        tokens.push_back({token_.getKind(), {end - token_.getLength(), end}, after_directive});
        after_directive = false;
      }
      next();
    }
    return tokens;
  }

private:
  void next() { lexer_.LexFromRawLexer(token_); }

  std::string spelling() const {
    return std::string(lexer_.getBufferLocation() - token_.getLength(), token_.getLength());
  }

  /// Reads a whole directive. The current token is then the first token of a later line.
  void directive() {
    next();
    if (token_.isAtStartOfLine())
      return;
    const std::string name = spelling();
    std::string argument;
    int arguments = 0;
    for (next(); !token_.isAtStartOfLine() && token_.isNot(clang::tok::eof); next())
      if (++arguments == 1)
        argument = spelling();
    const bool is_zero = arguments == 1 && (argument == "0" || argument == "false");
    if (name == "if" || name == "ifdef" || name == "ifndef")
      off_.push_back(name == "if" && is_zero);
    else if (name == "endif" && !off_.empty())
      off_.pop_back();
    else if ((name == "else" || name == "elif") && !off_.empty())
      off_.back() = false;
  }

  bool is_off() const { return std::ranges::find(off_, true) != off_.end(); }

  const std::string &text_;
  clang::LangOptions options_ = cuda_options();
  clang::Lexer lexer_;
  clang::Token token_;
  std::vector<bool> off_; ///< one entry per open conditional: whether its text is skipped
};

/// Whether a `>` stands at the same bracket depth between `from` and `end`; if so, an earlier `<`
/// opened a list.
bool closing_angle_ahead(const std::vector<ScanToken> &tokens, std::size_t from, std::size_t end) {
  int depth = 0;
  for (std::size_t index = from; index < end && depth >= 0; ++index) {
    const TokenKind kind = tokens[index].kind;
    depth += opens(kind) - closes(kind);
    if (depth == 0 && (kind == clang::tok::greater || kind == clang::tok::greatergreater))
      return true;
  }
  return false;
}

} // namespace

std::vector<ScanToken> scan_tokens(std::string_view text) {
  return Scanner(std::string(text)).run();
}

std::optional<std::size_t> closing_bracket(const std::vector<ScanToken> &tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t index = open; index < tokens.size(); ++index) {
    depth += opens(tokens[index].kind) - closes(tokens[index].kind);
    if (depth == 0)
      return index;
  }
  return std::nullopt;
}

std::optional<std::size_t> opening_bracket(const std::vector<ScanToken> &tokens,
                                           std::size_t close) {
  int depth = 0;
  for (std::size_t index = close + 1; index-- > 0;) {
    depth += closes(tokens[index].kind) - opens(tokens[index].kind);
    if (depth == 0)
      return index;
  }
  return std::nullopt;
}

std::vector<Range> split_at_commas(const std::vector<ScanToken> &tokens, std::size_t begin,
                                   std::size_t end) {
  std::vector<Range> parts;
  int depth = 0, angles = 0;
  std::size_t first = begin;
  for (std::size_t index = begin; index < end; ++index) {
    const TokenKind kind = tokens[index].kind;
    depth += opens(kind) - closes(kind);
    angles += kind == clang::tok::less;
    angles -= angles > 0 ? (kind == clang::tok::greater) +
                               2 * (kind == clang::tok::greatergreater && angles > 1)
                         : 0;
    if (kind == clang::tok::comma && depth == 0 &&
        (angles == 0 || !closing_angle_ahead(tokens, index, end))) {
      if (first < index)
        parts.push_back({tokens[first].range.begin, tokens[index - 1].range.end});
      first = index + 1;
      angles = 0;
    }
  }
  if (first < end)
    parts.push_back({tokens[first].range.begin, tokens[end - 1].range.end});
  return parts;
}

} // namespace warpwright::analysis
