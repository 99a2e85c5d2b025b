// Placeholders and indentation, character by character; see render.h.
#include "generator/text/source/render.h"

#include <algorithm>
#include <cctype>

namespace warpwright::generator {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (;;) {
    std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return lines;
    text.remove_prefix(end + 1);
  }
}

std::size_t white_prefix(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

template <class Change>
std::string map_lines(std::string_view text, Change change) {
  std::string result;
  std::size_t number = 0;
  for (std::string_view line : lines_of(text)) {
    if (number)
      result += '\n';
    result += change(line, number++);
  }
  return result;
}

} // namespace

std::string render(std::string_view text, const Bindings &bindings,
                   const std::set<std::string> &taken) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      result += text[i++];
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && is_word(text[end]))
      ++end;
    std::string name(text.substr(i + 1, end - i - 1));
    if (auto bound = bindings.find(name); bound != bindings.end()) {
      name = bound->second;
    } else {
      while (taken.contains(name))
        name += '_';
    }
    result += name;
    i = end;
  }
  return result;
}

std::string indent(std::string_view text, const std::string &base, const std::string &step) {
  return map_lines(text, [&](std::string_view line, std::size_t) {
    std::size_t spaces = white_prefix(line);
    if (spaces == line.size())
      return std::string();
    std::string result = base;
    for (std::size_t level = 0; level < spaces / 2; ++level)
      result += step;
    return result + std::string(spaces % 2, ' ') + std::string(line.substr(spaces));
  });
}

std::string deepen(std::string_view text, const std::string &step) {
  return map_lines(text, [&](std::string_view line, std::size_t number) {
    bool stays = number == 0 || white_prefix(line) == line.size();
    return (stays ? "" : step) + std::string(line);
  });
}

std::string rebase(std::string_view text, const std::string &indentation) {
  return map_lines(text, [&](std::string_view line, std::size_t number) {
    const std::size_t spaces = number == 0 ? 0 : std::min(white_prefix(line), indentation.size());
    return std::string(line.substr(spaces));
  });
}

std::string rename(std::string_view text, std::string_view name, std::string_view replacement) {
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    std::size_t end = at + name.size();
    bool whole = (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    bool member = at > 0 && (text[at - 1] == '.' || (at > 1 && text.substr(at - 2, 2) == "->"));
    if (!whole || member || at < from)
      continue;
    result.append(text.substr(from, at - from)).append(replacement);
    from = end;
  }
  return result.append(text.substr(from));
}

std::string parenthesised(const std::string &text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    depth += c == '(' || c == '[';
    depth -= c == ')' || c == ']';
    bool opens_group = i == 0 && c == '(';
    if (opens_group || (depth == 0 && !is_word(c) && c != '.' && c != ')' && c != ']'))
      return "(" + text + ")";
  }
  return text;
}

std::string as_summand(const std::string &text) {
  return text.find_first_of("?<>=&|^!,") == std::string::npos ? text : "(" + text + ")";
}

} // namespace warpwright::generator
