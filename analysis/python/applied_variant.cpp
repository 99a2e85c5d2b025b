#include "analysis/python/applied_variant.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

constexpr std::string_view kBegin = "# >>> warpwright ";
constexpr std::string_view kEnd = "# <<< warpwright ";

/// A marked block, from "# >>> warpwright Model, plan 0123 >>>" to the line after its closing mark.
struct Marked {
  std::string what; ///< name of the class
  std::string plan;
  Range range;
  Range inside;
};

std::string word_after(const std::string &text, std::size_t at, std::string_view ends) {
  return text.substr(at, text.find_first_of(ends, at) - at);
}

std::vector<Marked> find_marked(const std::string &text) {
  std::vector<Marked> found;
  for (std::size_t at = text.find(kBegin); at != std::string::npos;
       at = text.find(kBegin, at + 1)) {
    Marked marked;
    marked.what = word_after(text, at + kBegin.size(), ", \n");
    const std::size_t line_end = text.find('\n', at);
    const std::size_t plan = text.find(", plan ", at);
    if (plan < line_end)
      marked.plan = word_after(text, plan + 7, " \n");
    const std::size_t close = text.find(std::string(kEnd) + marked.what + " <<<", at);
    if (line_end == std::string::npos || close == std::string::npos)
      continue;
    const std::size_t start = text.rfind('\n', at), close_start = text.rfind('\n', close);
    const std::size_t close_end = text.find('\n', close);
    marked.range = {start == std::string::npos ? 0 : start + 1,
                    close_end == std::string::npos ? text.size() : close_end + 1};
    marked.inside = {line_end + 1, std::max(line_end + 1, close_start + 1)};
    found.push_back(std::move(marked));
  }
  return found;
}

std::string marked_text(const Variant &variant, const std::string &inside) {
  return std::string(kBegin) + variant.module + ", plan " + variant.plan + " >>>\n" + inside +
         std::string(kEnd) + variant.module + " <<<\n";
}

/// Erases a block with the two empty lines after it, or before it at the end of the text.
void erase_block(std::string &text, Range range) {
  const bool is_last = text.find_first_not_of(" \t\r\n", range.end) == std::string::npos;
  for (int line = 0; line < 2; ++line)
    if (is_last && range.begin >= 2 && text[range.begin - 1] == '\n' &&
        text[range.begin - 2] == '\n')
      --range.begin;
    else if (!is_last && text[range.end] == '\n')
      ++range.end;
  text.erase(range.begin, is_last ? std::string::npos : range.end - range.begin);
}

std::string without(const std::string &text, const std::string &module) {
  std::string result = text;
  const auto is_of = [&](const Marked &marked) { return module.empty() || marked.what == module; };
  for (;;) {
    const std::vector<Marked> all = find_marked(result);
    const auto next = std::ranges::find_if(all, is_of);
    if (next == all.end())
      return result;
    erase_block(result, next->range);
  }
}

std::string with_line_end(std::string text) {
  if (!text.empty() && !text.ends_with('\n'))
    text += '\n';
  return text;
}

/// Insertion point of an appended variant: before `if __name__ == "__main__"`, else the end of the
/// text.
std::size_t end_of_definitions(const PythonFile &file, const std::string &text) {
  for (const PythonStatement &statement : file.statements)
    if (statement.only_runs_as_main)
      return statement.range.begin;
  return text.size();
}

/// Start of the comment lines directly above a definition.
std::size_t with_comments_above(const PythonFile &file, const std::string &text,
                                std::size_t start) {
  for (auto comment = file.comments.rbegin(); comment != file.comments.rend(); ++comment) {
    if (comment->range.end > start)
      continue;
    const std::string gap = text.substr(comment->range.end, start - comment->range.end);
    const bool is_line_end = gap == "\n" || gap == "\r\n";
    const bool begins_line = comment->range.begin == 0 || text[comment->range.begin - 1] == '\n';
    if (!is_line_end || !begins_line)
      break;
    start = comment->range.begin;
  }
  return start;
}

} // namespace

std::string applied_plan(const std::string &text, const std::string &module) {
  for (const Marked &marked : find_marked(text))
    if (marked.what == module)
      return marked.plan;
  return {};
}

std::string applied_variant(const std::string &text, const std::string &module) {
  for (const Marked &marked : find_marked(text))
    if (marked.what == module)
      return text.substr(marked.inside.begin, marked.inside.size());
  return {};
}

std::string variant_block(const Variant &variant) {
  return marked_text(variant, variant.decorator + variant.subclass);
}

std::string as_written(const std::string &text) {
  return text.find(kBegin) == std::string::npos ? text : without(text, {});
}

Result<std::string> with_variant_appended(const std::string &text, const Variant &variant) {
  std::string result = with_line_end(without(text, variant.module));
  const auto file = parse_python(result);
  if (!file)
    return std::unexpected(file.error());
  const std::size_t at = end_of_definitions(*file, result);
  const std::string block = variant_block(variant);
  const bool is_last = at == result.size();
  result.insert(at, (is_last ? "\n\n" : "") + block + (is_last ? "" : "\n\n"));
  return result;
}

Result<std::string> with_variant_in_place(const std::string &text, const Variant &variant) {
  std::string result = with_line_end(without(text, variant.module));
  const auto file = parse_python(result);
  if (!file)
    return std::unexpected(file.error());
  const auto found = std::ranges::find(file->classes, variant.module, &PythonClass::name);
  if (found == file->classes.end())
    return fail("there is no class " + variant.module + " in the file");
  const std::size_t line = with_comments_above(*file, result, found->range.begin);
  result.insert(line, marked_text(variant, variant.decorator));
  return result;
}

std::optional<Variant> appended_variant(const std::string &text, const std::string &module) {
  for (const Marked &marked : find_marked(text)) {
    const std::string inside = text.substr(marked.inside.begin, marked.inside.size());
    const std::size_t subclass = inside.rfind("\nclass ");
    if (marked.what == module && subclass != std::string::npos)
      return Variant{module, marked.plan, inside.substr(0, subclass + 1), inside.substr(subclass + 1)};
  }
  return std::nullopt;
}

} // namespace warpwright::analysis
