// Lexing of source files with Clang's raw lexer, which keeps directives as tokens and needs no
// preprocessor. Thread: any.
#include "analysis/slicer/source_text.h"

#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <optional>

namespace warpwright::analysis::slicer {
namespace {

using DirectiveKind = Directive::Kind;

clang::LangOptions raw_options() {
  clang::LangOptions options;
  options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 = true;
  options.LineComment = options.Bool = true;
  return options;
}

DirectiveKind kind_of(std::string_view word) {
  static const std::map<std::string_view, DirectiveKind> kKinds{
      {"define", DirectiveKind::Define}, {"undef", DirectiveKind::Undef},  {"include", DirectiveKind::Include},
      {"if", DirectiveKind::If},         {"ifdef", DirectiveKind::If},     {"ifndef", DirectiveKind::If},
      {"elif", DirectiveKind::Elif},     {"elifdef", DirectiveKind::Elif}, {"elifndef", DirectiveKind::Elif},
      {"else", DirectiveKind::Else},     {"endif", DirectiveKind::Endif},  {"pragma", DirectiveKind::Pragma}};
  const auto found = kKinds.find(word);
  return found == kKinds.end() ? DirectiveKind::Other : found->second;
}

/// The end of the (continued) line that contains `offset`, without its newline.
std::size_t line_end(std::string_view text, std::size_t offset) {
  while (true) {
    const std::size_t end = text.find('\n', offset);
    if (end == std::string_view::npos)
      return text.size();
    std::size_t last = end;
    if (last > 0 && text[last - 1] == '\r')
      --last;
    if (last == 0 || text[last - 1] != '\\')
      return end;
    offset = end + 1;
  }
}

/// Reads the directive that starts with the '#' at `tokens[hash]`.
Directive read_directive(const SourceText &source, std::size_t hash) {
  Directive directive;
  const std::string_view text = source.text;
  directive.range = {source.tokens[hash].range.begin,
                     line_end(text, source.tokens[hash].range.begin)};
  const std::size_t end = directive.range.end;
  if (hash + 1 >= source.tokens.size() || source.tokens[hash + 1].range.begin >= end)
    return directive;
  directive.kind = kind_of(source.of(source.tokens[hash + 1]));
  std::size_t at = source.tokens[hash + 1].range.end;
  while (at < end && (text[at] == ' ' || text[at] == '\t'))
    ++at;
  if (directive.kind == DirectiveKind::Include && at < end && (text[at] == '"' || text[at] == '<')) {
    directive.is_quoted = text[at] == '"';
    const std::size_t close = text.find(directive.is_quoted ? '"' : '>', at + 1);
    if (close != std::string_view::npos && close < end)
      directive.name = text.substr(at + 1, close - at - 1);
  } else if (hash + 2 < source.tokens.size() && source.tokens[hash + 2].range.begin < end) {
    directive.name = source.of(source.tokens[hash + 2]);
  }
  return directive;
}

bool is_one_of(std::string_view token, std::string_view set) {
  return token.size() == 1 && set.find(token[0]) != std::string_view::npos;
}

/// The first token of the whole conditional group (#if to #endif) that ends before token `first`, if the declaration at
/// `first` began before or in it, as with `#ifdef __CUDACC__`, `__device__`, `#endif`, `float f(float x)`; else `first`.
std::size_t begin_before_conditional(const SourceText &source, std::size_t first) {
  const auto is_end = [&](std::size_t token) { return is_one_of(source.of(source.tokens[token]), ";{}"); };
  std::size_t at = first;
  std::optional<bool> continues; // whether the text before `first`, without directives, ends within a declaration
  for (int open = 0; at > 0;) {
    if (!source.tokens[at - 1].in_directive) {
      if (open == 0)
        return continues.value_or(!is_end(at - 1)) ? at : first;
      if (!continues)
        continues = !is_end(at - 1);
      --at;
      continue;
    }
    const auto directive = std::ranges::find_if(source.directives, [&](const Directive &one) {
      return one.range.contains(source.tokens[at - 1].range.begin);
    });
    if (directive == source.directives.end())
      return first;
    if (open == 0 && directive->kind != DirectiveKind::Endif)
      return at < first && continues.value_or(false) ? at : first;
    open += directive->kind == DirectiveKind::Endif ? 1 : directive->kind == DirectiveKind::If ? -1 : 0;
    while (at > 0 && source.tokens[at - 1].range.begin >= directive->range.begin)
      --at;
  }
  return continues.value_or(false) ? at : first;
}

/// The end of the declaration that starts at token `first`.
std::size_t declaration_end(const SourceText &source, std::size_t first, bool is_function) {
  int depth = 0;
  for (std::size_t i = first; i < source.tokens.size(); ++i) {
    if (source.tokens[i].in_directive)
      continue;
    const std::string_view token = source.of(source.tokens[i]);
    if (is_one_of(token, "({["))
      ++depth;
    else if (is_one_of(token, ")}]"))
      --depth;
    if (depth <= 0 && (token == ";" || (is_function && token == "}")))
      return source.tokens[i].range.end;
    if (depth < 0)
      return source.tokens[i].range.begin;
  }
  return source.text.size();
}

} // namespace

SourceText read_source(std::string path, std::string display, std::string text) {
  SourceText source{std::move(path), std::move(display), std::move(text), {}, {}, {}};
  const clang::LangOptions options = raw_options();
  const char *begin = source.text.c_str();
  clang::Lexer lexer(clang::SourceLocation(), options, begin, begin, begin + source.text.size());
  std::vector<std::size_t> hashes;
  clang::Token token;
  for (lexer.LexFromRawLexer(token); token.isNot(clang::tok::eof); lexer.LexFromRawLexer(token)) {
    const std::size_t end = lexer.getBufferLocation() - begin;
    if (token.is(clang::tok::hash) && token.isAtStartOfLine())
      hashes.push_back(source.tokens.size());
    source.tokens.push_back(
        {{end - token.getLength(), end}, token.is(clang::tok::raw_identifier), false});
  }
  for (std::size_t hash : hashes) {
    source.directives.push_back(read_directive(source, hash));
    for (std::size_t i = hash; i < source.tokens.size() &&
                               source.tokens[i].range.begin < source.directives.back().range.end;
         ++i)
      source.tokens[i].in_directive = true;
  }
  return source;
}

std::size_t token_at(const SourceText &source, std::size_t offset) {
  return std::ranges::upper_bound(source.tokens, offset, {},
                                  [](const Token &token) { return token.range.end; }) -
         source.tokens.begin();
}

Range declaration_around(const SourceText &source, std::size_t offset, bool is_function, std::string_view before) {
  std::size_t first = token_at(source, offset);
  if (first >= source.tokens.size())
    return {offset, offset};
  while (first > 0) {
    const bool is_plain = !source.tokens[first - 1].in_directive;
    if (is_plain && is_one_of(source.of(source.tokens[first - 1]), before))
      break;
    const std::size_t earlier = is_plain ? first - 1 : begin_before_conditional(source, first);
    if (earlier == first)
      break;
    first = earlier;
  }
  return {source.tokens[first].range.begin, declaration_end(source, first, is_function)};
}

void collect_identifiers(const SourceText &source, Range range,
                         std::set<std::string> &identifiers) {
  for (std::size_t i = token_at(source, range.begin); i < source.tokens.size(); ++i) {
    if (source.tokens[i].range.begin >= range.end)
      return;
    if (source.tokens[i].is_identifier)
      identifiers.emplace(source.of(source.tokens[i]));
  }
}

void for_each_std(const SourceText &source, Range range, const std::function<void(const std::string &, std::size_t)> &visit) {
  for (std::size_t i = token_at(source, range.begin); i + 2 < source.tokens.size(); ++i) {
    if (source.tokens[i].range.begin >= range.end)
      return;
    const bool is_std = source.of(source.tokens[i]) == "std" && source.of(source.tokens[i + 1]) == "::";
    const bool is_cuda =
        i >= 2 && source.of(source.tokens[i - 1]) == "::" && source.of(source.tokens[i - 2]) == "cuda";
    if (is_std && !is_cuda)
      visit(std::string(source.of(source.tokens[i + 2])), source.tokens[i].range.begin);
  }
}

} // namespace warpwright::analysis::slicer
