#include "server/export/standalone.h"

#include "plan/program.h"

#include <algorithm>
#include <regex>

namespace warpwright::server {
namespace {

constexpr const char *kLauncher =
#include "server/export/standalone.py.inc"
    ;
constexpr std::string_view kScalarFunctions =
#include "generator/device/scalar.cuh.inc"
    ;
constexpr std::size_t kLinesAround = 4; ///< lines of the class and of the marks in the user's file
constexpr std::size_t kColumns = 140;
constexpr std::uint32_t kDefaultSharedBytes = 48 * 1024;

bool uses_any_function_of(const std::string &source, std::string_view header) {
  static const std::regex kName("warpwright\\w*");
  const std::string text(header);
  for (std::sregex_iterator name(text.begin(), text.end(), kName), end; name != end; ++name)
    if (source.find(name->str()) != std::string::npos)
      return true;
  return false;
}

/// The kernels' source, without the shared functions where no kernel calls one.
std::string needed_source(const std::string &source) {
  const std::string rest = replaced(source, kScalarFunctions, "");
  return uses_any_function_of(rest, kScalarFunctions) ? source : rest;
}

bool is_plain(const plan::Argument &argument) {
  if (const auto *place = std::get_if<plan::PlaceArgument>(&argument))
    return !place->map;
  const auto *number = std::get_if<plan::NumberArgument>(&argument);
  return number && number->dtype == model::Dtype::Int32;
}

/// The reason why the standalone launcher cannot run the program; empty when it can.
std::string why_no_launcher(const plan::Program &program) {
  for (const plan::Step &step : program.steps) {
    const auto *launch = std::get_if<plan::Launch>(&step);
    if (!launch)
      return "one of its steps is not a kernel";
    if (launch->cooperative || launch->shared_bytes > kDefaultSharedBytes)
      return "a kernel of it needs more than a plain launch";
    if (!std::ranges::all_of(launch->arguments, is_plain))
      return "a kernel of it takes a tensor map, or a number other than an int32";
  }
  return {};
}

/// The reason why the launcher cannot check the guards; empty for a module with plain attributes and no submodules.
std::string why_no_guards(const CallPatterns &patterns) {
  for (const std::string &guards : patterns.guards) {
    if (guards.find("'modules': [(-1, '', '', 0, )]") == std::string::npos)
      return "the module has submodules";
    for (const char *kind : {"('is'", "('object'", "('list'", "('tuple'", "('dict'", "('values'"})
      if (guards.find(kind) != std::string::npos)
        return "forward reads more than numbers and texts";
  }
  const auto is_tensors = [](const std::string &text) {
    return text.find_first_not_of("[(. ,)]") == std::string::npos;
  };
  if (!is_tensors(patterns.inputs) || !is_tensors(patterns.outputs) || patterns.outputs.starts_with('['))
    return "its inputs or outputs are more than tensors";
  return {};
}

/// The literal with only the fields that the launcher reads, several on a line.
std::string dense(const std::string &literal) {
  std::string text = replaced(replaced(literal, "[\n        ", "["), ",\n        ", ", ");
  text = replaced(replaced(std::move(text), ",\n    ]", "]"), "[\n    ]", "[]");
  std::string result, line;
  for (std::size_t start = text.find('\n') + 1; start < text.size() && text[start] == ' ';) {
    const std::size_t end = text.find('\n', start);
    const std::string field = text.substr(start + 4, end - start - 4);
    start = end + 1;
    if (field.starts_with("\"name\"") || field.starts_with("\"sha256\"") || field.starts_with("\"inputs\""))
      continue;
    if (!line.empty() && line.size() + field.size() > kColumns) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "    " : " ") + field;
  }
  return "{\n" + result + line + "\n}\n";
}

} // namespace

Result<std::string> standalone_text(const model::Task &task, const model::Plan &plan,
                                    const CallPatterns &patterns, const std::string &literal,
                                    const std::string &comment, const std::string &names) {
  const auto program = plan::program_of(plan, task, task.sizes);
  if (!program)
    return std::unexpected(program.error());
  const std::string source = needed_source(plan.source);
  for (const std::string &why : {why_no_launcher(*program), why_no_guards(patterns)})
    if (!why.empty())
      return fail(why);
  if (source.find("#include") != std::string::npos)
    return fail("its kernels include headers of CUDA");
  if (source.find("'''") != std::string::npos || source.ends_with('\''))
    return fail("the kernels' text holds three quotes in a row");
  const std::string text = comment + names + "_source = r'''" + source + "'''\n" + names +
                           "_plan = " + dense(literal) + "\n\n" + kLauncher + "\n\n@_warpwright_plans(" +
                           names + "_source, " + names + "_plan)\n";
  const std::size_t lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + kLinesAround;
  if (lines > kStandaloneLines)
    return fail("it would take " + std::to_string(lines) + " lines, which is more than " +
                std::to_string(kStandaloneLines));
  return text;
}

} // namespace warpwright::server
