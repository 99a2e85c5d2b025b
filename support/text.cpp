#include "support/text.h"

#include <algorithm>
#include <cstdio>
#include <cctype>

namespace warpwright {
namespace {

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct DiffLine {
  char mark; ///< ' ' common, '-' only before, '+' only after
  std::string text;
};

/// Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), greedy forward form with the trace kept.
/// Debian's libdtl, the library for this, does not compile with Clang 22.
std::vector<DiffLine> line_diff(std::string_view before_text, std::string_view after_text) {
  const auto before = split_lines(before_text), after = split_lines(after_text);
  const int n = static_cast<int>(before.size()), m = static_cast<int>(after.size()), limit = n + m;
  auto at = [&](std::vector<int> &furthest, int k) -> int & {
    return furthest[static_cast<std::size_t>(k + limit + 1)];
  };
  std::vector<int> furthest(static_cast<std::size_t>(2 * limit + 3), 0);
  std::vector<std::vector<int>> trace;
  for (bool done = false; !done;) {
    const int d = static_cast<int>(trace.size());
    trace.push_back(furthest);
    for (int k = -d; k <= d && !done; k += 2) {
      const bool down = k == -d || (k != d && at(furthest, k - 1) < at(furthest, k + 1));
      int x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < n && x - k < m &&
             before[static_cast<std::size_t>(x)] == after[static_cast<std::size_t>(x - k)])
        ++x;
      at(furthest, k) = x;
      done = x >= n && x - k >= m;
    }
  }
  std::vector<DiffLine> reversed;
  int x = n, y = m;
  for (int d = static_cast<int>(trace.size()) - 1; d >= 0; --d) {
    std::vector<int> &previous = trace[static_cast<std::size_t>(d)];
    const int k = x - y;
    const bool down = k == -d || (k != d && at(previous, k - 1) < at(previous, k + 1));
    const int start_x = d == 0 ? 0 : at(previous, down ? k + 1 : k - 1);
    const int start_y = d == 0 ? 0 : start_x - (down ? k + 1 : k - 1);
    for (; x > start_x && y > start_y; --x, --y)
      reversed.push_back({' ', before[static_cast<std::size_t>(x - 1)]});
    if (d > 0 && down)
      reversed.push_back({'+', after[static_cast<std::size_t>(--y)]});
    else if (d > 0)
      reversed.push_back({'-', before[static_cast<std::size_t>(--x)]});
  }
  return {reversed.rbegin(), reversed.rend()};
}

} // namespace

Result<std::string> apply_edits(std::string_view text, std::vector<TextEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const TextEdit &a, const TextEdit &b) {
    return a.range.begin < b.range.begin ||
           (a.range.begin == b.range.begin && a.range.end < b.range.end);
  });
  std::string out;
  std::size_t position = 0;
  for (const TextEdit &edit : edits) {
    if (edit.range.end > text.size() || edit.range.begin > edit.range.end)
      return fail("an edit reaches past the end of the text", "Read the file again and repeat");
    if (edit.range.begin < position)
      return fail("two edits overlap at offset " + std::to_string(edit.range.begin));
    out += text.substr(position, edit.range.begin - position);
    out += edit.replacement;
    position = edit.range.end;
  }
  out += text.substr(position);
  return out;
}

std::vector<TextEdit> diff_edits(std::string_view before, std::string_view after) {
  std::vector<TextEdit> edits;
  std::size_t offset = 0;
  bool open = false;
  for (const auto &[mark, line] : line_diff(before, after)) {
    if (mark == ' ') {
      offset += line.size();
      open = false;
      continue;
    }
    if (!open)
      edits.push_back({{offset, offset}, ""});
    open = true;
    if (mark == '-')
      edits.back().range.end = offset += line.size();
    else
      edits.back().replacement += line;
  }
  return edits;
}

std::string unified_diff(std::string_view before, std::string_view after,
                         const std::string &before_name, const std::string &after_name) {
  static constexpr std::size_t kContext = 3;
  const std::vector<DiffLine> lines = line_diff(before, after);
  std::vector<bool> shown(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].mark != ' ')
      for (std::size_t j = i - std::min(i, kContext); j < std::min(lines.size(), i + kContext + 1);
           ++j)
        shown[j] = true;

  std::string out;
  std::size_t old_line = 1, new_line = 1;
  for (std::size_t i = 0; i < lines.size();) {
    if (!shown[i]) {
      ++old_line, ++new_line, ++i;
      continue;
    }
    std::string body;
    std::size_t old_count = 0, new_count = 0;
    for (; i < lines.size() && shown[i]; ++i) {
      old_count += lines[i].mark != '+';
      new_count += lines[i].mark != '-';
      body += lines[i].mark + lines[i].text;
      if (!body.ends_with('\n'))
        body += "\n\\ No newline at end of file\n";
    }
    if (out.empty())
      out = "--- " + before_name + "\n+++ " + after_name + "\n";
    out += "@@ -" + std::to_string(old_line) + ',' + std::to_string(old_count) + " +" +
           std::to_string(new_line) + ',' + std::to_string(new_count) + " @@\n" + body;
    old_line += old_count;
    new_line += new_count;
  }
  return out;
}

LineIndex::LineIndex(std::string_view text) : starts_{0} {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n')
      starts_.push_back(i + 1);
}

std::size_t LineIndex::line_of(std::size_t offset) const {
  return static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), offset) -
                                  starts_.begin()) -
         1;
}

std::size_t LineIndex::line_start(std::size_t line) const {
  return starts_[std::min(line, starts_.size() - 1)];
}

std::string indentation_at(std::string_view text, std::size_t offset) {
  std::size_t begin = std::min(offset, text.size());
  while (begin > 0 && text[begin - 1] != '\n')
    --begin;
  std::size_t end = begin;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t'))
    ++end;
  return std::string(text.substr(begin, end - begin));
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const bool starts = at == 0 || !is_word(text[at - 1]);
    const std::size_t end = at + name.size();
    if (starts && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

std::string exact_number(double value) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17g", value);
  const std::string text = digits;
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

} // namespace warpwright
