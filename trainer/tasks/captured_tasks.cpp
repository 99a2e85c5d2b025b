#include "trainer/tasks/captured_tasks.h"

#include "runner/capture/files/capture_files.h"
#include "runner/capture/files/kernel_names.h"
#include "support/files.h"
#include "support/words.h"
#include "support/text.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace warpwright::trainer {
namespace {

namespace fs = std::filesystem;
using Kind = DeclaredParameter::Kind;

constexpr std::string_view kGlobal = "__global__";

std::vector<std::string> words_of(const std::string &text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    const std::size_t end = std::size_t(
        std::find_if_not(text.begin() + std::ptrdiff_t(at), text.end(), is_word) - text.begin());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

Kind kind_of(const std::vector<std::string> &type) {
  static const std::set<std::string> integers{
      "int",     "unsigned", "signed",   "long",    "short",    "size_t",   "int32_t",
      "int64_t", "uint32_t", "uint64_t", "int16_t", "uint16_t", "ptrdiff_t"},
      floats{"float", "double"}, neutral{"const", "std", "__restrict__"};
  Kind kind = Kind::Other;
  for (const std::string &word : type) {
    if (neutral.contains(word))
      continue;
    if (!integers.contains(word) && !floats.contains(word))
      return Kind::Other;
    kind = floats.contains(word) ? Kind::Float : Kind::Integer;
  }
  return kind;
}

DeclaredParameter parameter_of(const std::string &text) {
  std::vector<std::string> words = words_of(text.substr(0, text.find('=')));
  if (words.size() < 2)
    return {};
  DeclaredParameter parameter{words.back(), Kind::Other};
  words.pop_back();
  if (text.find_first_of("*&[<") == std::string::npos)
    parameter.kind = kind_of(words);
  return parameter;
}

/// A kernel's place in a source.
struct Found {
  std::size_t declaration = 0;   ///< of `__global__`
  std::size_t begin = 0, end = 0; ///< of the text between its parentheses
};

std::optional<Found> find_kernel(const std::string &text, const std::string &kernel) {
  for (std::size_t at = text.find(kGlobal); at != std::string::npos; at = text.find(kGlobal, at + 1)) {
    const std::size_t stop = std::min(text.find_first_of("{;", at), text.size());
    const std::size_t name = text.find(kernel, at);
    if (name >= stop || is_word(text[name - 1]))
      continue;
    const std::size_t open = text.find_first_not_of(" \t\r\n", name + kernel.size());
    if (open >= stop || text[open] != '(')
      continue;
    const std::size_t close = text.rfind(')', stop);
    if (close != std::string::npos && close > open)
      return Found{at, open + 1, close};
  }
  return std::nullopt;
}

/// The start of the line of the declaration, or of its template's line above it.
std::size_t line_of(const std::string &text, std::size_t declaration) {
  std::size_t line = declaration == 0 ? 0 : text.rfind('\n', declaration - 1) + 1;
  if (line < 2)
    return line;
  const std::size_t above = text.rfind('\n', line - 2) + 1;
  return text.compare(above, 8, "template") == 0 ? above : line;
}

/// A number that a launch passed, as a comment states it; nullopt: it cannot be told.
std::optional<std::string> item_of(const DeclaredParameter &parameter, const std::string &bytes) {
  if (parameter.kind == Kind::Integer && (bytes.size() == 4 || bytes.size() == 8)) {
    const std::int64_t value = capture::integer_of(bytes, true);
    return value > 0 ? std::optional(parameter.name + " = " + std::to_string(value)) : std::nullopt;
  }
  if (parameter.kind == Kind::Float && bytes.size() == 4)
    return parameter.name + ": float = " + printed("%.9g", capture::real_of(bytes));
  return std::nullopt;
}

/// The numbers of a launch as items of a comment. Errors: why the launch is of no use.
Result<std::string> items_of(const capture::Launch &launch, const std::vector<DeclaredParameter> &declared) {
  if (!launch.parameters)
    return fail("its parameters were not recorded");
  if (launch.parameters->size() != declared.size())
    return fail("its source declares other parameters");
  std::vector<std::string> items;
  for (std::size_t i = 0; i < declared.size(); ++i)
    if (auto item = item_of(declared[i], (*launch.parameters)[i].bytes))
      items.push_back(std::move(*item));
  return joined(items, ", ");
}

struct Source {
  std::string name, path, text; ///< name: from the folder of the program
};

std::vector<Source> sources_below(const fs::path &folder) {
  std::vector<Source> sources;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && entry != end; entry.increment(error))
    if (entry->is_regular_file() && entry->path().extension() == ".cu")
      if (auto text = read_file(entry->path()))
        sources.push_back({fs::relative(entry->path(), folder, error).string(), entry->path().string(), *text});
  std::ranges::sort(sources, {}, &Source::name);
  return sources;
}

TrainingTask task_of(const Source &source, const std::string &kernel, const std::string &items, Split split) {
  std::string text = source.text;
  if (!items.empty())
    text.insert(line_of(text, find_kernel(text, kernel)->declaration), "// warpwright: " + items + "\n");
  std::string shape = items;
  std::erase(shape, ' ');
  return {.id = "captured/" + source.name + "/" + kernel + "/" + (shape.empty() ? "as-written" : shape),
          .family = kernel,
          .split = split,
          .path = source.path,
          .text = std::move(text),
          .kernel = kernel};
}

} // namespace

bool is_capture(const fs::path &folder) {
  std::error_code error;
  return fs::exists(folder / capture::kRunFile, error);
}

std::optional<std::vector<DeclaredParameter>> declared_parameters(const std::string &text,
                                                                  const std::string &kernel) {
  const auto found = find_kernel(text, kernel);
  if (!found)
    return std::nullopt;
  std::vector<DeclaredParameter> parameters;
  std::string one;
  int depth = 0;
  for (std::size_t i = found->begin; i <= found->end; ++i) {
    const char c = text[i];
    depth += (c == '(' || c == '<' || c == '[') - (c == ')' || c == '>' || c == ']');
    if (i < found->end && !(c == ',' && depth == 0)) {
      one += c;
      continue;
    }
    if (!words_of(one).empty())
      parameters.push_back(parameter_of(one));
    one.clear();
  }
  return parameters;
}

Result<ChosenTasks> import_capture(const fs::path &folder, Split split) {
  const auto run = TRY(capture::read_run(folder));
  std::vector<capture::Line<capture::Launch>> launches;
  for (const fs::path &path : capture::process_folders(folder)) {
    auto process = TRY(capture::read_process(path));
    std::ranges::move(process.launches, std::back_inserter(launches));
  }
  std::ranges::stable_sort(launches, std::greater(), [](const auto &line) { return line.statistics.total_ns; });
  const std::vector<Source> sources = sources_below(run.folder);
  ChosenTasks chosen;
  std::set<std::string> known, missing;
  for (const auto &line : launches) {
    const std::string kernel = capture::base_name(line.operation.kernel);
    const auto source = std::ranges::find_if(
        sources, [&](const Source &one) { return find_kernel(one.text, kernel).has_value(); });
    const auto items = source == sources.end() ? Result<std::string>(fail("no .cu file has it"))
                                               : items_of(line.operation, *declared_parameters(source->text, kernel));
    if (!items) {
      if (missing.insert(kernel).second)
        chosen.skipped.push_back("kernel " + kernel + ": " + items.error().message);
      continue;
    }
    TrainingTask task = task_of(*source, kernel, *items, split);
    if (known.insert(task.id).second)
      chosen.tasks.push_back(std::move(task));
  }
  if (chosen.tasks.empty())
    return fail("the capture " + folder.string() + " has no kernel with a source below " + run.folder,
                "Capture the program in the folder of its sources");
  return chosen;
}

} // namespace warpwright::trainer
