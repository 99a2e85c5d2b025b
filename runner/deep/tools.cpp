// Search for the tools. Folders with a version in their names are sorted by its numbers, newest
// first.
#include "runner/deep/tools.h"
#include "support/process.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace warpwright::runner::deep {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kVersionLimit{10'000};

struct ToolFacts {
  const char *name, *variable, *package;
};

ToolFacts facts_of(Tool tool) {
  switch (tool) {
  case Tool::ComputeSanitizer:
    return {"compute-sanitizer", "WARPWRIGHT_COMPUTE_SANITIZER", "it (package cuda-sanitizer-13-0)"};
  case Tool::Ncu:
    return {"ncu", "WARPWRIGHT_NCU", "Nsight Compute (package cuda-nsight-compute-13-0)"};
  case Tool::Nvdisasm:
    break;
  }
  return {"nvdisasm", "WARPWRIGHT_NVDISASM", "it (package cuda-nvdisasm-13-0)"};
}

bool can_run(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::vector<int> version_in(const std::string &text) {
  std::vector<int> numbers;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] < '0' || text[i] > '9') {
      ++i;
      continue;
    }
    int number = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && number < 100'000; ++i)
      number = 10 * number + (text[i] - '0');
    numbers.push_back(number);
  }
  return numbers;
}

/// Folders in `parent` whose names start with `prefix`, newest version first.
std::vector<fs::path> versions(const fs::path &parent, const std::string &prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(parent, error))
    if (entry.path().filename().string().starts_with(prefix))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end(), [](const fs::path &left, const fs::path &right) {
    return version_in(left.filename().string()) > version_in(right.filename().string());
  });
  return found;
}

std::vector<fs::path> folders(Tool tool) {
  std::vector<fs::path> folders;
  std::stringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string directory; std::getline(path, directory, ':');)
    if (!directory.empty())
      folders.emplace_back(directory);
  std::vector<fs::path> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *value = std::getenv(variable); value && *value)
      roots.emplace_back(value);
  roots.insert(roots.end(), {"/usr/local/cuda", "/opt/cuda"});
  for (fs::path &root : versions("/usr/local", "cuda-"))
    roots.push_back(std::move(root));
  for (const fs::path &root : roots) {
    folders.push_back(root / "bin");
    if (tool == Tool::ComputeSanitizer)
      folders.push_back(root / "compute-sanitizer");
  }
  if (tool == Tool::Ncu)
    for (fs::path &root : versions("/opt/nvidia/nsight-compute", ""))
      folders.push_back(std::move(root));
  return folders;
}

} // namespace

const char *variable_of(Tool tool) { return facts_of(tool).variable; }

std::string name(Tool tool) { return facts_of(tool).name; }

Result<fs::path> find(Tool tool) {
  const char *variable = variable_of(tool);
  if (const char *chosen = std::getenv(variable); chosen && *chosen) {
    if (can_run(chosen))
      return chosen;
    return fail(std::string(variable) + " is " + chosen + ", which cannot be run",
                std::string("Name the executable ") + name(tool) + ", or unset it");
  }
  for (const fs::path &folder : folders(tool))
    if (can_run(folder / name(tool)))
      return folder / name(tool);
  return fail(name(tool) + " was found neither on PATH nor in CUDA_HOME, /usr/local/cuda*" +
                  (tool == Tool::Ncu ? " or /opt/nvidia/nsight-compute" : ""),
              std::string("Install ") + facts_of(tool).package + ", or set " + variable_of(tool));
}

std::string version_of(const fs::path &tool) {
  const auto run = run_captured({tool.string(), "--version"}, "", kVersionLimit);
  const std::size_t at = run ? run->output.find("Version ") : std::string::npos;
  if (at == std::string::npos)
    return "";
  return " " + run->output.substr(at + 8, run->output.find_first_of(" \r\n", at + 8) - at - 8);
}

} // namespace warpwright::runner::deep
