#include "trainer/tasks/declared_sizes.h"
#include "support/text.h"

#include <cctype>
#include <string_view>
#include <vector>

namespace warpwright::trainer {
namespace {

constexpr std::string_view kComment = "// warpwright:";
constexpr std::string_view kBefore[] = {"const int ", "constexpr int ", "#define "};

std::size_t skip_spaces(std::string_view line, std::size_t at) {
  while (at < line.size() && line[at] == ' ')
    ++at;
  return at;
}

/// Finds the digits after `NAME =` at `at`, or after `NAME ` for a #define.
std::optional<Range> value_at(std::string_view line, std::size_t at, const std::string &name,
                              bool define) {
  if (line.substr(at, name.size()) != name)
    return std::nullopt;
  at = skip_spaces(line, at + name.size());
  if (!define) {
    if (at >= line.size() || line[at] != '=')
      return std::nullopt;
    at = skip_spaces(line, at + 1);
  }
  std::size_t end = at;
  while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])))
    ++end;
  if (end == at || (end < line.size() && (is_word(line[end]) || line[end] == '.')))
    return std::nullopt;
  return Range{at, end};
}

/// Finds the digits of `name` among the items of a structured comment, which are separated by commas.
std::optional<Range> in_comment(std::string_view line, std::size_t at, const std::string &name) {
  while (at < line.size()) {
    at = skip_spaces(line, at);
    if (auto found = value_at(line, at, name, false))
      return found;
    const std::size_t comma = line.find(',', at);
    if (comma == std::string_view::npos)
      break;
    at = comma + 1;
  }
  return std::nullopt;
}

std::optional<Range> in_line(std::string_view line, const std::string &name) {
  const std::size_t start = skip_spaces(line, 0);
  const std::string_view content = line.substr(start);
  if (content.starts_with(kComment))
    return in_comment(line, start + kComment.size(), name);
  for (const std::string_view before : kBefore)
    if (content.starts_with(before))
      return value_at(line, start + before.size(), name, before.starts_with('#'));
  return start == 0 ? value_at(line, 0, name, false) : std::nullopt;
}

} // namespace

std::optional<Range> declared_size(const std::string &text, const std::string &name) {
  std::optional<Range> declared;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (auto found = in_line(std::string_view(text).substr(begin, end - begin), name)) {
      if (declared)
        return std::nullopt;
      declared = Range{begin + found->begin, begin + found->end};
    }
    begin = end + 1;
  }
  return declared;
}

Result<std::string> with_sizes(const std::string &text, const symbolic::Sizes &sizes) {
  std::vector<TextEdit> edits;
  for (const auto &[name, value] : sizes) {
    const auto range = declared_size(text, name);
    if (!range)
      return fail("the source does not declare the size " + name + " exactly once",
                  "Write `// warpwright: " + name + " = 1024` above the kernel, or in Python `" +
                      name + " = 1024` at the start of a line");
    edits.push_back({*range, std::to_string(value)});
  }
  return apply_edits(text, edits);
}

} // namespace warpwright::trainer
