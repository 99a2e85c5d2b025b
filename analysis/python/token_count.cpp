#include "analysis/python/token_count.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace warpwright::analysis {
namespace {

bool is_word(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80);
}

/// The end of the string that starts at `at`; npos if the string is not closed.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool triple = text.substr(at, 3) == std::string(3, quote);
  const std::size_t length = triple ? 3 : 1;
  for (std::size_t i = at + length; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (!triple && text[i] == '\n')
      return std::string_view::npos;
    else if (text[i] == quote && (!triple || text.substr(i, 3) == std::string(3, quote)))
      return i + length;
  }
  return std::string_view::npos;
}

} // namespace

std::size_t count_python_tokens(std::string_view text) {
  std::size_t count = 0;
  bool strings = true; // false after an unclosed string, because the rest is ambiguous
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    ++count;
    if (is_word(c)) {
      while (i < text.size() && is_word(text[i]))
        ++i;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (strings && (c == '"' || c == '\'')) {
      const std::size_t end = end_of_string(text, i);
      strings = end != std::string_view::npos;
      i = strings ? end : i + 1;
    } else {
      count -= c == ' ' || c == '\t' || c == '\r';
      ++i;
    }
  }
  return count;
}

} // namespace warpwright::analysis
