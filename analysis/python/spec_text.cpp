#include "analysis/python/spec_text.h"

#include <functional>

namespace warpwright::analysis {
namespace {

/// Calls `at` with each position outside of brackets and quotes until it returns true.
/// @return true if `at` returned true, or if all brackets and quotes are closed at the end
bool walk(std::string_view text, const std::function<bool(std::size_t)> &at) {
  std::string open;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      open += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c)
        return false;
      open.pop_back();
    } else if (open.empty() && at(i)) {
      return true;
    }
  }
  return open.empty() && !quote;
}

} // namespace

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos)
    return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin));
}

std::vector<std::string> split_outside(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  const auto cut = [&](std::size_t end) {
    if (std::string piece = trimmed(text.substr(begin, end - begin)); !piece.empty())
      pieces.push_back(std::move(piece));
    begin = end + 1;
  };
  walk(text, [&](std::size_t i) {
    if (text[i] == separator)
      cut(i);
    return false;
  });
  cut(text.size());
  return pieces;
}

std::size_t find_assignment(std::string_view text) {
  std::size_t found = std::string_view::npos;
  walk(text, [&](std::size_t i) {
    if (text[i] != '=')
      return false;
    const char before = i > 0 ? text[i - 1] : ' ', after = i + 1 < text.size() ? text[i + 1] : ' ';
    if (after == '=' || std::string_view("=!<>:").find(before) != std::string_view::npos)
      return false;
    found = i;
    return true;
  });
  return found;
}

bool is_balanced(std::string_view text) {
  return walk(text, [](std::size_t) { return false; });
}

} // namespace warpwright::analysis
