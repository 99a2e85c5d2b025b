// Placeholders, indentation and identifiers of texts; see render.h.
#include "generator/text/source/render.h"

#include <algorithm>
#include <cctype>
#include <ranges>

namespace warpwright::source {
namespace {

std::size_t white_prefix(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

/// `text` with each line replaced by `change` of the line and its number.
template <class Change>
std::string map_lines(std::string_view text, Change change) {
  std::string result;
  std::size_t number = 0;
  for (const auto line : std::views::split(text, '\n')) {
    if (number)
      result += '\n';
    result += change(std::string_view(line), number++);
  }
  return result;
}

} // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text.front())) &&
         std::ranges::all_of(text, is_word);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::string without_trailing_space(std::string text) {
  text.resize(text.find_last_not_of(" \n") + 1);
  return text;
}

bool starts_line(std::string_view text, std::size_t offset) {
  const std::size_t before = text.substr(0, offset).find_last_not_of(" \t");
  return before != std::string_view::npos && text[before] == '\n';
}

std::size_t with_pragmas(std::string_view text, std::size_t statement) {
  std::size_t begin = statement;
  for (std::size_t line = text.rfind('\n', statement); line != std::string_view::npos && line > 0;) {
    const std::size_t above = text.rfind('\n', line - 1);
    const std::size_t first = above == std::string_view::npos ? 0 : above + 1;
    const std::string_view words = trimmed(text.substr(first, line - first));
    if (!words.starts_with("#pragma"))
      break;
    begin = static_cast<std::size_t>(words.data() - text.data());
    line = above;
  }
  return begin;
}

std::string fresh_name(std::string name, const std::set<std::string> &taken) {
  while (taken.contains(name))
    name += '_';
  return name;
}

std::string render(std::string_view text, const Bindings &bindings,
                   const std::set<std::string> &taken) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      result += text[i++];
      continue;
    }
    const auto end = std::find_if_not(text.begin() + i + 1, text.end(), is_word);
    const std::string name(text.begin() + i + 1, end);
    const auto bound = bindings.find(name);
    result += bound == bindings.end() ? fresh_name(name, taken) : bound->second;
    i = static_cast<std::size_t>(end - text.begin());
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

std::string ceil_div_text(const std::string &text, int divisor) {
  return "(" + as_summand(text) + " + " + std::to_string(divisor - 1) + ") / " +
         std::to_string(divisor);
}

void add_edits(Edits &edits, const Edits &more) {
  for (const TextEdit &edit : more)
    if (std::ranges::find(edits, edit) == edits.end())
      edits.push_back(edit);
}

} // namespace warpwright::source
