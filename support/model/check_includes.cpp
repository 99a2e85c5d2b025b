// Check of the include directives in a source. It reads directives like a preprocessor, and also
// refuses those in comments and strings, because a false refusal is better than a missed include.
#include "support/model/plan_checks.h"

#include <algorithm>
#include <cctype>

namespace warpwright::model {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Position after the blanks at `at` and the line end behind them; `at` if there is no line end.
std::size_t past_line_end(const std::string &text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_blank(text[end]))
    ++end;
  if (text.compare(end, 2, "\r\n") == 0)
    return end + 2;
  return end < text.size() && (text[end] == '\n' || text[end] == '\r') ? end + 1 : at;
}

/// The source as a preprocessor reads it: lines that end in a backslash are joined, and other
/// spellings of '#' are replaced.
std::string joined_lines(const std::string &source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t at = 0; at < source.size();) {
    const bool trigraph = source.compare(at, 3,
                                         "?"
                                         "?/") == 0;
    if (source[at] == '\\' || trigraph) {
      const std::size_t after = at + (trigraph ? 3 : 1), next = past_line_end(source, after);
      if (next != after) {
        at = next;
        continue;
      }
    }
    const std::size_t spelling = source.compare(at, 2, "%:") == 0 ? 2
                                 : source.compare(at, 3,
                                                  "?"
                                                  "?=") == 0
                                     ? 3
                                     : 0;
    text += spelling ? '#' : source[at];
    at += spelling ? spelling : 1;
  }
  return text;
}

std::size_t past_blanks_and_comments(const std::string &text, std::size_t at) {
  while (at < text.size()) {
    if (is_blank(text[at])) {
      ++at;
    } else if (text.compare(at, 2, "/*") == 0) {
      const auto end = text.find("*/", at + 2);
      at = end == std::string::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

/// Whether <name> or "name" starts at `at`, with a name that cannot leave an include folder.
bool starts_with_header(const std::string &text, std::size_t at) {
  if (at >= text.size() || (text[at] != '<' && text[at] != '"'))
    return false;
  const char close = text[at] == '<' ? '>' : '"';
  const std::size_t start = ++at;
  while (at < text.size() && (is_word(text[at]) || std::string_view("./+-").contains(text[at])))
    ++at;
  const std::string_view name = std::string_view(text).substr(start, at - start);
  return at < text.size() && text[at] == close && !name.empty() && is_word(name.front()) &&
         name.find("..") == std::string_view::npos;
}

/// @param at position where the name of a header must start
Result<void> check_header(const std::string &text, std::size_t at) {
  if (starts_with_header(text, at))
    return {};
  const std::string target =
      text.substr(at, std::min<std::size_t>(text.find_first_of("\r\n", at) - at, 80));
  return fail("the source includes " + target,
              "Only headers of the CUDA toolkit may be included, by name");
}

} // namespace

Result<void> check_includes(const std::string &source) {
  const std::string text = joined_lines(source);
  for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#', at + 1)) {
    const std::size_t start = past_blanks_and_comments(text, at + 1);
    std::size_t end = start;
    while (end < text.size() && is_word(text[end]))
      ++end;
    const std::string word = text.substr(start, end - start);
    if (word == "include" || word == "include_next" || word == "import" || word == "embed")
      TRY(check_header(text, past_blanks_and_comments(text, end)));
  }
  // A plan must not find out which files exist on the runner's host.
  for (const char *question : {"__has_include", "__has_embed"})
    for (std::size_t at = text.find(question); at != std::string::npos;
         at = text.find(question, at + 1)) {
      while (at < text.size() && is_word(text[at]))
        ++at;
      at = past_blanks_and_comments(text, at);
      if (at < text.size() && text[at] == '(')
        at = past_blanks_and_comments(text, at + 1);
      TRY(check_header(text, at));
    }
  return {};
}

} // namespace warpwright::model
