// What a schema cannot say of a plan: that its names exist, that its expressions evaluate at the
// task's sizes, that shapes and extents lie within CUDA's limits, and that the source includes
// nothing but toolkit headers.
//
// The include check keeps a plan from reading files of the runner's host through a compiler's error
// message. It reads directives by hand, as a preprocessor does, and refuses one in a comment or a
// string too: what looks like an include and names no plain header is not worth a risk.
#include "support/model/json.h"

#include <algorithm>
#include <cctype>

namespace warpwright::model {
namespace {

constexpr std::int64_t kMaxBufferBytes = std::int64_t{1} << 36;
constexpr std::int64_t kMaxGridX = (std::int64_t{1} << 31) - 1,
                       kMaxGridYZ = 65535; // CUDA guide, 21.2
constexpr std::int64_t kMaxThreads = 1024, kMaxBlockZ = 64;
constexpr std::int64_t kMaxSharedBytes = 256 * 1024;

Result<std::int64_t> bounded(const Expression &expression, const Sizes &sizes, std::int64_t low,
                             std::int64_t high, const std::string &what) {
  auto value = expression.evaluate(sizes);
  if (!value)
    return fail(what + " \"" + expression.text() + "\": " + value.error().message,
                value.error().remedy);
  if (*value < low || *value > high)
    return fail(what + " \"" + expression.text() + "\" is " + std::to_string(*value) +
                    " at the task's sizes",
                "It must lie between " + std::to_string(low) + " and " + std::to_string(high));
  return *value;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Past the blanks that start at `at`; `at` itself where that is no line's end.
std::size_t past_line_end(const std::string &text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_blank(text[end]))
    ++end;
  if (text.compare(end, 2, "\r\n") == 0)
    return end + 2;
  return end < text.size() && (text[end] == '\n' || text[end] == '\r') ? end + 1 : at;
}

/// As a preprocessor reads it: lines that end in a backslash joined, other spellings of '#' resolved.
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

/// <name> or "name", of characters that cannot climb out of an include folder.
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

/// @param at where the name of a header must start
Result<void> check_header(const std::string &text, std::size_t at) {
  if (starts_with_header(text, at))
    return {};
  const std::string target =
      text.substr(at, std::min<std::size_t>(text.find_first_of("\r\n", at) - at, 80));
  return fail("the source includes " + target,
              "Only headers of the CUDA toolkit may be included, by name");
}

Result<void> check_includes(const std::string &source) {
  const std::string text = joined_lines(source);
  for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#', at + 1)) {
    const std::size_t start = past_blanks_and_comments(text, at + 1);
    std::size_t end = start;
    while (end < text.size() && is_word(text[end]))
      ++end;
    const std::string word = text.substr(start, end - start);
    if (word == "include" || word == "include_next" || word == "import" || word == "embed")
      if (auto header = check_header(text, past_blanks_and_comments(text, end)); !header)
        return header;
  }
  // What exists on the runner's host is no business of a plan either.
  for (const char *question : {"__has_include", "__has_embed"})
    for (std::size_t at = text.find(question); at != std::string::npos;
         at = text.find(question, at + 1)) {
      while (at < text.size() && is_word(text[at]))
        ++at;
      at = past_blanks_and_comments(text, at);
      if (at < text.size() && text[at] == '(')
        at = past_blanks_and_comments(text, at + 1);
      if (auto header = check_header(text, at); !header)
        return header;
    }
  return {};
}

/// The name is put into generated source: it must not bring lines or directives of its own.
Result<void> check_kernel_name(const std::string &name, const std::string &where) {
  for (const char c : name)
    if (static_cast<unsigned char>(c) < ' ' || std::string_view("#\"'\\;{}").contains(c))
      return fail(where + ".kernel: no kernel has such a name",
                  "Name a kernel of the source, with its template arguments: reduce<float, 256>");
  return {};
}

class Checker {
public:
  Checker(const Plan &plan, const Task &task) : plan_(plan), task_(task) {}

  Result<void> run() {
    if (auto includes = check_includes(plan_.source); !includes)
      return includes;
    if (auto names = check_names(); !names)
      return names;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (auto step = check_step(plan_.steps[i], "steps[" + std::to_string(i) + "]"); !step)
        return step;
    return {};
  }

private:
  Result<void> check_names() {
    for (const Buffer &buffer : task_.buffers)
      if (auto added = add_buffer(buffer.name, buffer.dtype, buffer.extent, "buffers"); !added)
        return added;
    for (const Temporary &temporary : plan_.temporaries)
      if (auto added = add_buffer(temporary.name, temporary.dtype, temporary.extent, "temporaries");
          !added)
        return added;
    return {};
  }

  Result<void> add_buffer(const std::string &name, Dtype dtype, const Expression &extent,
                          const char *list) {
    const std::string where = std::string(list) + "." + name;
    auto elements =
        bounded(extent, task_.sizes, 0,
                kMaxBufferBytes / static_cast<std::int64_t>(size_bytes(dtype)), where + ".extent");
    if (!elements)
      return std::unexpected(elements.error());
    if (!extents_.emplace(name, *elements).second)
      return fail(where + ": the name is taken", "Give every buffer and temporary its own name");
    return {};
  }

  Result<std::int64_t> extent_of(const std::string &name, const std::string &where) {
    if (const auto found = extents_.find(name); found != extents_.end())
      return found->second;
    std::string known;
    for (const auto &[other, elements] : extents_)
      known += (known.empty() ? "" : ", ") + other;
    return fail(where + ": no buffer or temporary is called \"" + name + "\"",
                "There are: " + known);
  }

  Result<void> check_step(const Step &step, const std::string &where) {
    if (const auto *fill = std::get_if<FillStep>(&step)) {
      auto extent = extent_of(fill->buffer, where + ".fill.buffer");
      return extent ? Result<void>{} : std::unexpected(extent.error());
    }
    const auto &launch = std::get<LaunchStep>(step);
    if (auto name = check_kernel_name(launch.kernel, where + ".launch"); !name)
      return name;
    if (auto shape = check_shape(launch, where + ".launch"); !shape)
      return shape;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      if (auto argument = check_argument(launch.arguments[i],
                                         where + ".launch.arguments[" + std::to_string(i) + "]");
          !argument)
        return argument;
    return {};
  }

  Result<void> check_shape(const LaunchStep &launch, const std::string &where) {
    std::int64_t threads = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::string index = "[" + std::to_string(axis) + "]";
      auto grid = bounded(launch.grid[axis], task_.sizes, 1, axis ? kMaxGridYZ : kMaxGridX,
                          where + ".grid" + index);
      auto block = bounded(launch.block[axis], task_.sizes, 1, axis == 2 ? kMaxBlockZ : kMaxThreads,
                           where + ".block" + index);
      if (!grid || !block)
        return std::unexpected(grid ? block.error() : grid.error());
      threads *= *block;
    }
    if (threads > kMaxThreads)
      return fail(where + ".block: a block of " + std::to_string(threads) + " threads",
                  "A block holds at most " + std::to_string(kMaxThreads));
    auto shared =
        bounded(launch.shared_bytes, task_.sizes, 0, kMaxSharedBytes, where + ".shared_bytes");
    return shared ? Result<void>{} : std::unexpected(shared.error());
  }

  Result<void> check_argument(const Argument &argument, const std::string &where) {
    if (const auto *buffer = std::get_if<BufferArgument>(&argument)) {
      auto extent = extent_of(buffer->buffer, where + ".buffer");
      if (!extent)
        return std::unexpected(extent.error());
      auto offset = bounded(buffer->offset, task_.sizes, 0, *extent, where + ".offset");
      return offset ? Result<void>{} : std::unexpected(offset.error());
    }
    if (const auto *size = std::get_if<SizeArgument>(&argument)) {
      auto value = size->value.evaluate(task_.sizes);
      return value ? Result<void>{}
                   : fail(where + ".size: " + value.error().message, value.error().remedy);
    }
    if (const auto *scalar = std::get_if<ScalarArgument>(&argument)) {
      for (const Scalar &candidate : task_.scalars)
        if (candidate.name == scalar->scalar)
          return {};
      return fail(where + ": no scalar is called \"" + scalar->scalar + "\"",
                  "Name one of the task's scalars");
    }
    return {};
  }

  const Plan &plan_;
  const Task &task_;
  std::map<std::string, std::int64_t> extents_;
};

} // namespace

Result<void> check_plan(const Plan &plan, const Task &task) { return Checker(plan, task).run(); }

} // namespace warpwright::model
