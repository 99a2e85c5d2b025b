#include "trainer/tasks/tasks_command.h"

#include "trainer/tasks/split_names.h"

#include <fstream>
#include <iostream>

namespace warpwright::trainer {
namespace {

namespace fs = std::filesystem;

/// File name of a task: its id with dots for slashes, and an extension.
std::string file_name(const TrainingTask &task) {
  std::string name = task.id;
  for (char &c : name)
    if (c == '/')
      c = '.';
  return name + (task.language == "cuda" ? ".cu" : ".py");
}

} // namespace

Result<void> run_tasks(const TasksOptions &options) {
  const auto chosen = TRY(choose_tasks(options.choice));
  std::error_code error;
  if (!options.write.empty())
    fs::create_directories(options.write, error);
  for (const TrainingTask &task : chosen.tasks) {
    std::cout << task.id << "  " << task.language << "  " << task.kernel << "\n";
    if (options.write.empty())
      continue;
    const fs::path path = fs::path(options.write) / file_name(task);
    std::ofstream file(path, std::ios::binary);
    file << task.text;
    if (!file.flush())
      return fail("cannot write " + path.string(),
                  "Is the folder writable, and the disk not full?");
  }
  for (const std::string &skipped : chosen.skipped)
    std::cerr << "skipped " << skipped << "\n";
  std::cerr << chosen.tasks.size() << " " << split_text(options.choice.split) << " tasks\n";
  return {};
}

} // namespace warpwright::trainer
