// Closure over the lines that include or import. Each file is read once.
#include "server/cli/check/affected_files.h"
#include "analysis/python/module_facts.h"
#include "analysis/torch_cpp/kernels.h"
#include "support/files.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

bool is_code(const std::string &path) {
  const std::string extension = fs::path(path).extension();
  for (const char *known : {".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inc", ".inl", ".cpp", ".cc", ".cxx", ".py"})
    if (extension == known)
      return true;
  return false;
}

/// The name by which another file includes or imports this one: "util.cuh", "layers".
std::string name_in_code(const std::string &path) {
  const fs::path file(path);
  if (!analysis::is_python(path))
    return file.filename();
  return file.filename() == "__init__.py" ? file.parent_path().filename() : file.stem();
}

/// The words of the file's lines that include or import.
std::set<std::string> mentions(const fs::path &file, bool is_python) {
  const auto text = read_file(file);
  std::set<std::string> words;
  std::istringstream lines(text ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    const auto start = line.find_first_not_of(" \t");
    if (start == std::string::npos)
      continue;
    const std::string_view code = std::string_view(line).substr(start);
    if (is_python ? !code.starts_with("import ") && !code.starts_with("from ")
                  : !code.starts_with("#") || !code.contains("include"))
      continue;
    std::string word;
    for (const char c : line + " ") {
      const bool belongs = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (!is_python && (c == '.' || c == '-' || c == '+'));
      if (belongs)
        word += c;
      else if (!word.empty())
        words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

} // namespace

bool may_hold_kernels(const std::string &path) {
  static const std::set<std::string> kCuda{".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"};
  return kCuda.contains(fs::path(path).extension().string()) || analysis::is_python(path) || analysis::is_host_cpp(path);
}

std::set<std::string> affected_files(const fs::path &root, const std::vector<std::string> &all,
                                     const std::vector<ChangedFile> &changed) {
  std::set<std::string> reached;
  std::vector<std::string> names; ///< to be looked for
  for (const ChangedFile &file : changed) {
    if (!file.deleted)
      reached.insert(file.path);
    if (is_code(file.path))
      names.push_back(name_in_code(file.path));
  }
  std::multimap<std::string, std::string> users; ///< by mentioned name
  if (!names.empty())
    for (const std::string &path : all)
      if (is_code(path))
        for (const std::string &name : mentions(root / path, analysis::is_python(path)))
          users.emplace(name, path);
  while (!names.empty()) {
    const std::string name = names.back();
    names.pop_back();
    for (auto [user, end] = users.equal_range(name); user != end; ++user)
      if (reached.insert(user->second).second)
        names.push_back(name_in_code(user->second));
  }
  std::erase_if(reached, [](const std::string &path) { return !may_hold_kernels(path); });
  return reached;
}

} // namespace warpwright::cli
