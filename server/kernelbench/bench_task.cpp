#include "server/kernelbench/bench_task.h"

#include "support/files.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace warpwright::server {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Level of a path: 3 for "level3"; 0: no folder is a level.
int level_of(const fs::path &path) {
  for (const fs::path &part : path) {
    const std::string name = part.string();
    if (name.starts_with("level") && name.size() > 5 &&
        std::ranges::all_of(name.substr(5), [](unsigned char c) { return std::isdigit(c); }))
      return std::stoi(name.substr(5));
  }
  return 0;
}

/// Number of a task: 23 for "23_Softmax"; a large number for files without one, so that they come last.
long number_of(const std::string &name) {
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits > 0 && digits < 9 ? std::stol(name.substr(0, digits)) : 1'000'000'000;
}

std::string id_of(int level, const std::string &name) {
  const long number = number_of(name);
  return level > 0 && number < 1'000'000'000 ? std::to_string(level) + "/" + std::to_string(number)
                                             : name;
}

bool is_wanted(int level, const std::set<int> &levels) {
  return levels.empty() || levels.contains(level);
}

Result<std::vector<BenchTask>> load_folder(const fs::path &root, const std::set<int> &levels) {
  std::vector<BenchTask> tasks;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path &path = entry->path();
    if (!entry->is_regular_file() || path.extension() != ".py" ||
        path.filename().string().starts_with("__"))
      continue;
    const int level = level_of(fs::relative(path, root.parent_path()));
    if (!is_wanted(level, levels))
      continue;
    auto source = read_file(path);
    if (!source)
      return std::unexpected(source.error());
    // A checkout also has Python files that are not tasks.
    if (source->find("get_inputs") == std::string::npos)
      continue;
    const std::string name = path.stem().string();
    tasks.push_back({id_of(level, name), level, name, std::move(*source)});
  }
  if (error)
    return fail("cannot read the folder " + root.string() + ": " + error.message());
  return tasks;
}

/// The task's name in the release; without one, its level and number.
std::string title_of(const json &entry, int level, int number) {
  const std::string name = entry.value("task_name", entry.value("name", ""));
  return name.empty() ? "level " + std::to_string(level) + ", task " + std::to_string(number)
                      : name;
}

Result<BenchTask> task_from(const json &entry, const std::string &where) {
  if (!entry.is_object() || !entry.contains("ref_code") || !entry["ref_code"].is_string())
    return fail(where + " is not an object with the text `ref_code`",
                "Give a JSON lines file with one task a line");
  const auto integer = [&](const char *key) {
    const json value = entry.value(key, json());
    return value.is_number_integer() ? value.get<int>()
           : value.is_string()       ? std::atoi(value.get<std::string>().c_str())
                                     : 0;
  };
  const int level = integer("level_id"), number = integer("task_id");
  return BenchTask{std::to_string(level) + "/" + std::to_string(number), level,
                   title_of(entry, level, number), entry["ref_code"].get<std::string>()};
}

Result<std::vector<BenchTask>> load_lines(const fs::path &path, const std::set<int> &levels) {
  std::vector<BenchTask> tasks;
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    auto task = task_from(json::parse(line, nullptr, false),
                          path.string() + ", line " + std::to_string(number));
    if (!task)
      return std::unexpected(task.error());
    if (is_wanted(task->level, levels))
      tasks.push_back(std::move(*task));
  }
  return tasks;
}

} // namespace

Result<std::vector<BenchTask>> load_bench_tasks(const fs::path &path, const std::set<int> &levels) {
  if (!fs::exists(path))
    return fail("there is no " + path.string(),
                "Give a checkout of KernelBench or a JSON lines file with `ref_code`");
  Result<std::vector<BenchTask>> tasks;
  if (fs::is_directory(path)) {
    tasks = load_folder(path, levels);
  } else if (path.extension() == ".py") {
    auto source = read_file(path);
    if (!source)
      return std::unexpected(source.error());
    tasks = std::vector<BenchTask>{{path.stem().string(), 0, path.stem().string(), *source}};
  } else {
    tasks = load_lines(path, levels);
  }
  if (!tasks)
    return tasks;
  if (tasks->empty())
    return fail("no task in " + path.string() + (levels.empty() ? "" : " of those levels"),
                "A task is a Python file with Model, get_inputs and get_init_inputs");
  std::ranges::stable_sort(*tasks, {}, [](const BenchTask &task) {
    return std::tuple(task.level, number_of(task.id.substr(task.id.find('/') + 1)), task.name);
  });
  return tasks;
}

} // namespace warpwright::server
