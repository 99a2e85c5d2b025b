#include "trainer/tasks/task_sources.h"

#include "support/files.h"
#include "trainer/tasks/captured_tasks.h"
#include "trainer/tasks/split_names.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace warpwright::trainer {
namespace {

namespace fs = std::filesystem;

struct SourceName {
  fs::path path;
  std::optional<Split> split;
};

SourceName parse_source(const std::string &text) {
  const std::size_t at = text.rfind('@');
  const auto split = at == std::string::npos ? std::nullopt : split_named(text.substr(at + 1));
  return split ? SourceName{text.substr(0, at), split} : SourceName{text, std::nullopt};
}

Result<std::vector<fs::path>> files_below(const fs::path &folder,
                                          const std::set<std::string> &extensions) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_regular_file() && extensions.contains(entry->path().extension().string()))
      files.push_back(entry->path());
  if (error)
    return fail("cannot read the folder " + folder.string() + ": " + error.message());
  std::ranges::sort(files);
  return files;
}

bool is_module_file(const std::string &text) {
  return text.find("class Model") != std::string::npos &&
         text.find("def get_inputs") != std::string::npos;
}

TrainingTask module_task(std::string id, std::string family, Split split, std::string path,
                         std::string text) {
  return {.id = std::move(id),
          .family = std::move(family),
          .split = split,
          .language = "torch-python",
          .path = std::move(path),
          .text = std::move(text),
          .kernel = "Model"};
}

/// Returns "1" for a path with a folder level1; empty for a path without a level.
std::string level_of(const fs::path &path) {
  for (const fs::path &part : path)
    if (const std::string name = part.string(); name.starts_with("level") && name.size() > 5)
      return name.substr(5);
  return "";
}

bool has_levels(const fs::path &folder) {
  std::error_code error;
  for (const fs::path &base : {folder, folder / "KernelBench"})
    if (fs::is_directory(base / "level1", error) || fs::is_directory(base / "level2", error))
      return true;
  return level_of(folder.filename()) != "";
}

Result<ChosenTasks> import_lines(const fs::path &path, Split split) {
  auto text = TRY(read_file(path));
  ChosenTasks chosen;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    const std::string where = path.string() + ", line " + std::to_string(number);
    if (!entry.is_object() || !entry.value("ref_code", nlohmann::json()).is_string()) {
      chosen.skipped.push_back(where + ": no object with the text `ref_code`");
      continue;
    }
    const auto shown = [&](const char *key) {
      const auto value = entry.value(key, nlohmann::json());
      return value.is_string() ? value.get<std::string>() : value.dump();
    };
    const std::string level = shown("level_id"),
                      id = "kernelbench/" + level + "/" + shown("task_id");
    chosen.tasks.push_back(
        module_task(id, "kernelbench/" + level, split, where, entry["ref_code"]));
  }
  return chosen;
}

Result<ChosenTasks> tasks_of_suite(const fs::path &folder, const SourceName &source,
                                   const TaskChoice &choice) {
  auto suite = TRY(load_suite(folder));
  ChosenTasks chosen;
  for (SuiteTask &task : suite) {
    if (source.split)
      task.split = *source.split;
    std::ranges::move(draw_variations(task, choice.split, choice.variations, choice.seed),
                      std::back_inserter(chosen.tasks));
  }
  return chosen;
}

bool has_families(const fs::path &folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename() == "family.toml")
      return true;
  return false;
}

Result<ChosenTasks> tasks_of(const SourceName &source, const TaskChoice &choice) {
  std::error_code error;
  if (!fs::exists(source.path, error))
    return fail("there are no tasks at " + source.path.string(),
                "Name a task suite, a KernelBench checkout, a .jsonl file, a capture or a folder of sources");
  const bool folder = fs::is_directory(source.path, error);
  if (folder && is_capture(source.path)) {
    const Split split = source.split.value_or(Split::Training);
    return split == choice.split ? import_capture(source.path, split) : ChosenTasks{};
  }
  if (folder && has_families(source.path))
    return tasks_of_suite(source.path, source, choice);
  const bool benchmark = !folder || has_levels(source.path);
  const Split split = source.split.value_or(benchmark ? Split::HeldOut : Split::Training);
  auto chosen =
      benchmark ? import_benchmark(source.path, split) : import_sources(source.path, split);
  if (chosen && split != choice.split)
    chosen->tasks.clear();
  return chosen;
}

/// The id without its last part, which is the shape in a suite.
std::string task_of(const TrainingTask &task) { return task.id.substr(0, task.id.rfind('/')); }

/// Keeps tasks of all families in turn; within a family, each task at one shape before any at a second shape.
void keep_evenly(std::vector<TrainingTask> &tasks, int at_most) {
  if (at_most <= 0 || std::ssize(tasks) <= at_most)
    return;
  std::map<std::string, int> shapes, of_family;
  std::vector<std::pair<int, std::size_t>> order;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    order.emplace_back(shapes[task_of(tasks[i])]++, i);
  std::ranges::sort(order);
  for (auto &[turn, index] : order)
    turn = of_family[tasks[index].family]++;
  std::ranges::sort(order);
  order.resize(static_cast<std::size_t>(at_most));
  std::ranges::sort(order, {}, [](const auto &entry) { return entry.second; });
  std::vector<TrainingTask> kept;
  for (const auto &[turn, index] : order)
    kept.push_back(std::move(tasks[index]));
  tasks = std::move(kept);
}

} // namespace

Result<ChosenTasks> import_benchmark(const fs::path &path, Split split) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return import_lines(path, split);
  auto files = TRY(files_below(path, {".py"}));
  ChosenTasks chosen;
  for (const fs::path &file : files) {
    const std::string level = level_of(fs::relative(file, path.parent_path(), error));
    auto text = TRY(read_file(file));
    // A checkout also has Python files that are no tasks.
    if (level.empty() || !is_module_file(text))
      continue;
    const std::string stem = file.stem().string();
    chosen.tasks.push_back(module_task("kernelbench/" + level + "/" + stem, "kernelbench/" + level,
                                       split, file.string(), std::move(text)));
  }
  if (chosen.tasks.empty())
    return fail("there is no task in " + path.string(),
                "A task is a Python file with Model, get_inputs and get_init_inputs in a folder "
                "level1, level2, ...");
  return chosen;
}

Result<ChosenTasks> import_sources(const fs::path &folder, Split split) {
  auto files = TRY(files_below(folder, {".cu", ".py"}));
  ChosenTasks chosen;
  std::error_code error;
  for (const fs::path &file : files) {
    auto text = TRY(read_file(file));
    const std::string name = fs::relative(file, folder, error).string();
    const std::string family = file.stem().string();
    if (file.extension() == ".py") {
      if (is_module_file(text))
        chosen.tasks.push_back(module_task(name, family, split, file.string(), text));
      else
        chosen.skipped.push_back(name + ": no Model and get_inputs, as KernelBench has them");
      continue;
    }
    const auto kernels = kernel_names(text);
    if (kernels.empty())
      chosen.skipped.push_back(name + ": no kernel");
    for (const std::string &kernel : kernels)
      chosen.tasks.push_back({.id = name + "/" + kernel,
                              .family = family,
                              .split = split,
                              .path = file.string(),
                              .text = text,
                              .kernel = kernel});
  }
  if (chosen.tasks.empty())
    return fail("there is no task in " + folder.string(),
                "A task is a kernel of a .cu file, or a .py file with Model and get_inputs");
  return chosen;
}

Result<ChosenTasks> choose_tasks(const TaskChoice &choice) {
  std::vector<std::string> sources = choice.sources;
  if (sources.empty()) {
    auto shipped = TRY(shipped_suite());
    sources.push_back(shipped.string());
  }
  ChosenTasks all;
  for (const std::string &source : sources) {
    auto chosen = tasks_of(parse_source(source), choice);
    if (!chosen)
      return chosen;
    std::ranges::move(chosen->tasks, std::back_inserter(all.tasks));
    std::ranges::move(chosen->skipped, std::back_inserter(all.skipped));
  }
  keep_evenly(all.tasks, choice.at_most);
  return all;
}

} // namespace warpwright::trainer
