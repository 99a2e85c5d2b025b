#include "trainer/tasks/suite.h"

#include "trainer/tasks/declared_sizes.h"
#include "support/files.h"
#include "trainer/tasks/split_names.h"

#include <algorithm>
#include <set>
#include <toml++/toml.h>

namespace warpwright::trainer {
namespace {

namespace fs = std::filesystem;

/// A family file that is being read.
struct Family {
  fs::path path;
  std::string name;
  Split split = Split::Training;

  std::unexpected<Error> refuse(const toml::node *node, const std::string &message) const {
    const std::string line = node ? ":" + std::to_string(node->source().begin.line) : "";
    return fail(path.string() + line + ": " + message,
                "docs/internals/task-suite.md describes its contents");
  }
};

Result<std::vector<std::int64_t>> integers(const Family &family, const toml::node &node,
                                           const std::string &what, std::size_t count) {
  std::vector<std::int64_t> values;
  if (const toml::array *array = node.as_array())
    for (const toml::node &element : *array)
      if (const auto value = element.value<std::int64_t>(); value && *value > 0)
        values.push_back(*value);
  if (values.size() != count || node.as_array()->size() != count)
    return family.refuse(&node,
                         what + " must be " + std::to_string(count) + " integers above zero");
  return values;
}

Result<void> read_sizes(const Family &family, const toml::table &fields, SuiteTask &task) {
  const toml::table *sizes = fields["sizes"].as_table();
  if (!sizes || sizes->empty())
    return family.refuse(&fields, task.name + " has no sizes");
  for (const auto &[key, node] : *sizes) {
    const std::string name(key.str());
    auto values = TRY(integers(family, node, "sizes." + name + ": small, from, to, step", 4));
    const SizeRange range{name, values[0], values[1], values[2], values[3]};
    if (range.from > range.to || range.from % range.step || range.to % range.step)
      return family.refuse(&node, "sizes." + name +
                                      ": from must not exceed to, and both be multiples of step");
    if (!declared_size(task.text, name))
      return family.refuse(&node,
                           task.path + " does not declare the size " + name + " exactly once");
    task.space.sizes.push_back(range);
  }
  if (const toml::node *points = fields.get("points")) {
    auto values = TRY(integers(family, *points, "points", 2));
    task.space.least_points = values[0];
    task.space.most_points = values[1];
  }
  return {};
}

Result<SuiteTask> read_task(const Family &family, const std::string &name,
                            const toml::table &fields) {
  for (const auto &[key, node] : fields)
    if (!std::set<std::string_view>{"source", "kernel", "points", "sizes"}.contains(key.str()))
      return family.refuse(&node, "unknown key " + std::string(key.str()));
  const auto source = fields["source"].value<std::string>();
  if (!source)
    return family.refuse(&fields, name + " names no source");
  SuiteTask task{.name = name, .family = family.name, .split = family.split};
  task.path = (family.path.parent_path() / *source).string();
  task.text = TRY(read_file(task.path));
  const bool python = source->ends_with(".py");
  task.language = python ? "torch-python" : "cuda";
  if (const auto kernel = fields["kernel"].value<std::string>()) {
    task.kernel = *kernel;
  } else if (python) {
    task.kernel = "Model";
  } else {
    const auto kernels = kernel_names(task.text);
    if (kernels.size() != 1)
      return family.refuse(&fields, task.path + " has " + std::to_string(kernels.size()) +
                                        " kernels; name one with kernel = \"...\"");
    task.kernel = kernels.front();
  }
  auto sizes = read_sizes(family, fields, task);
  return sizes ? Result<SuiteTask>(std::move(task)) : std::unexpected(sizes.error());
}

Result<void> read_family(const fs::path &path, std::vector<SuiteTask> &tasks) {
  Family family{.path = path, .name = path.parent_path().filename().string()};
  toml::table root;
  try {
    root = toml::parse_file(path.string());
  } catch (const toml::parse_error &error) {
    return fail(path.string() + ":" + std::to_string(error.source().begin.line) +
                ": this is not TOML: " + std::string(error.description()));
  }
  for (const auto &[key, node] : root)
    if (key.str() != "split" && key.str() != "task")
      return family.refuse(&node, "unknown key " + std::string(key.str()));
  const auto split = split_named(root["split"].value_or(std::string()));
  if (!split)
    return family.refuse(root.get("split"), "split must be training, validation or held-out");
  family.split = *split;
  const toml::table *named = root["task"].as_table();
  if (!named)
    return family.refuse(nullptr, "there is no [task.NAME]");
  for (const auto &[key, node] : *named) {
    if (!node.is_table())
      return family.refuse(&node, "task." + std::string(key.str()) + " is no table");
    tasks.push_back(TRY(read_task(family, std::string(key.str()), *node.as_table())));
  }
  return {};
}

std::uint64_t seed_of(const SuiteTask &task, Split split, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ seed; // FNV-1a
  for (const char c : task.family + "/" + task.name + "/" + std::to_string(static_cast<int>(split)))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

} // namespace

Result<std::vector<SuiteTask>> load_suite(const fs::path &folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename() == "family.toml")
      files.push_back(entry->path());
  if (error)
    return fail("cannot read the task suite " + folder.string() + ": " + error.message());
  if (files.empty())
    return fail("there is no family.toml below " + folder.string(),
                "Name the folder of a task suite (docs/internals/task-suite.md)");
  std::ranges::sort(files);
  std::vector<SuiteTask> tasks;
  for (const fs::path &file : files)
    TRY(read_family(file, tasks));
  std::ranges::sort(tasks, {},
                    [](const SuiteTask &task) { return std::pair(task.family, task.name); });
  return tasks;
}

Result<fs::path> shipped_suite() {
  std::vector<fs::path> candidates;
  if (const char *named = std::getenv("WARPWRIGHT_TASKS"); named && *named)
    return fs::path(named);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path above = program.parent_path().parent_path();
    candidates.push_back(above / "share/warpwright/tasks");
    candidates.push_back(above.parent_path() / "share/warpwright/tasks"); // from lib/warpwright
  }
  candidates.push_back(WARPWRIGHT_TASK_SUITE);
  for (const fs::path &candidate : candidates)
    if (fs::is_directory(candidate, error))
      return candidate;
  return fail("the task suite that ships with the trainer is not there (" +
                  candidates.front().string() + ")",
              "Set WARPWRIGHT_TASKS to its folder, or name suites in [tasks]");
}

TrainingTask at_shape(const SuiteTask &task, const symbolic::Sizes &sizes, Split split) {
  TrainingTask made;
  made.id = task.family + "/" + task.name + "/" + shape_text(sizes);
  made.family = task.family;
  made.split = split;
  made.language = task.language;
  made.path = task.path;
  // This cannot fail: load_suite() found every size of the task.
  made.text = with_sizes(task.text, sizes).value_or(task.text);
  made.kernel = task.kernel;
  return made;
}

std::vector<TrainingTask> draw_variations(const SuiteTask &task, Split split, int count,
                                          std::uint64_t seed) {
  std::vector<TrainingTask> variations;
  if (task.split != Split::Training && task.split != split)
    return variations;
  // All shapes of a family outside training belong to the family's split.
  const auto wanted = task.split == Split::Training ? std::optional(split) : std::nullopt;
  ShapeRandom random(seed_of(task, split, seed));
  std::set<std::string> known;
  for (int attempt = 0; attempt < 8 * count && std::ssize(variations) < count; ++attempt) {
    const auto sizes = draw_shape(task.space, wanted, random);
    if (!sizes)
      break;
    if (known.insert(shape_text(*sizes)).second)
      variations.push_back(at_shape(task, *sizes, split));
  }
  return variations;
}

std::vector<std::string> kernel_names(const std::string &text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find("__global__"); at != std::string::npos;
       at = text.find("__global__", at + 1)) {
    // Find the parenthesis of the parameters; skip that of __launch_bounds__.
    std::size_t open = text.find('(', at);
    if (const std::size_t bounds = text.find("__launch_bounds__", at); bounds < open)
      open = text.find('(', text.find(')', open));
    if (open == std::string::npos)
      break;
    std::size_t end = text.find_last_not_of(" \n", open - 1) + 1, begin = end;
    while (begin > at &&
           (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_'))
      --begin;
    if (begin < end)
      names.push_back(text.substr(begin, end - begin));
  }
  return names;
}

} // namespace warpwright::trainer
