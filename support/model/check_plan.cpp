// What a schema cannot say of a plan: that its names exist, that its expressions evaluate at the
// task's sizes, that shapes and extents lie within CUDA's limits, and that the source includes
// nothing but toolkit headers.
//
// The include check keeps a plan from reading files of the runner's host through a compiler's error
// message.
#include "support/model/json.h"

#include <algorithm>
#include <regex>

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

Result<void> check_includes(const std::string &source) {
  // Line splices and the digraph of '#' could hide a directive from the pattern.
  std::string text = std::regex_replace(source, std::regex(R"(\\\r?\n)"), "");
  text = std::regex_replace(text, std::regex("%:|\\?\\?="), "#");
  static const std::regex directive(
      R"((^|\n)[ \t]*#(/\*[^*]*\*/|[ \t])*(include_next|include|import|embed)([^\n]*))");
  static const std::regex harmless(R"(^[ \t]*[<"][A-Za-z0-9_][A-Za-z0-9_./+-]*[>"].*)");
  for (std::sregex_iterator found(text.begin(), text.end(), directive), end; found != end;
       ++found) {
    const std::string target = (*found)[4];
    if (!std::regex_match(target, harmless) || target.find("..") != std::string::npos)
      return fail("the source includes" + target,
                  "Only headers of the CUDA toolkit may be included, by name");
  }
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
