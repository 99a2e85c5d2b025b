#include "analysis/python/project_imports.h"

#include "analysis/python/python_file.h"

#include <algorithm>
#include <vector>

namespace warpwright::analysis {
namespace {

constexpr std::size_t kMostFiles = 200, kMostBytes = std::size_t{2} << 20;
constexpr int kMostFolders = 12;

/// The parent folder: "/a" for "/a/b"; "" (the root) for "/a" and "/".
std::string folder_of(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string as_path(std::string dotted) {
  std::ranges::replace(dotted, '.', '/');
  return dotted;
}

class Resolver {
public:
  Resolver(std::string path, const ProjectDisk &disk) : own_(std::move(path)), disk_(disk) {
    root_ = folder_of(own_);
    find_folders();
  }

  Result<ProjectImports> resolve(const std::string &text) {
    follow(own_, text);
    while (!open_.empty() && !is_too_much()) {
      const std::string next = std::move(open_.back());
      open_.pop_back();
      follow(next, found_.at(next));
    }
    if (is_too_much())
      return fail("the module imports more than " + std::to_string(kMostFiles) + " files or " +
                      std::to_string(kMostBytes >> 20) + " MiB of its project",
                  "Install the package that it needs for the runner's Python, or move the module "
                  "to a file that imports less");
    ProjectImports result;
    if (found_.empty())
      return result;
    for (auto &[path, content] : found_)
      result.files.emplace(path.substr(root_.size() + 1), std::move(content));
    result.path = own_.substr(root_.size() + 1);
    return result;
  }

private:
  bool is_too_much() const { return found_.size() > kMostFiles || bytes_ > kMostBytes; }

  /// Finds the folders for name lookup: the file's own folder and its parents within the project.
  void find_folders() {
    std::vector<std::string> all;
    for (std::string folder = folder_of(own_); !folder.empty() && all.size() < kMostFolders;
         folder = folder_of(folder)) {
      all.push_back(folder);
      for (const char *mark :
           {"/.git", "/pyproject.toml", "/setup.py", "/setup.cfg", "/.warpwright.toml"})
        if (disk_.exists(folder + mark)) {
          folders_ = all;
          return;
        }
    }
    // Without a project mark: the folders of the file's own package and the folder that contains
    // it.
    for (const std::string &folder : all) {
      folders_.push_back(folder);
      if (!disk_.exists(folder + "/__init__.py"))
        break;
    }
  }

  void follow(const std::string &path, const std::string &text) {
    const auto file = parse_python(text);
    if (!file)
      return;
    for (const PythonImport &one : file->imports)
      if (one.level > 0)
        relative(path, one);
      else
        absolute(one);
  }

  void relative(const std::string &path, const PythonImport &one) {
    std::string folder = folder_of(path);
    for (int level = 1; level < one.level; ++level)
      folder = folder_of(folder);
    if (folder.empty())
      return;
    include_root(folder_of(folder)); // the folder is a package in its parent
    take(folder + "/__init__.py");
    imported_from(folder, one);
  }

  void absolute(const PythonImport &one) {
    const std::string first = one.module.substr(0, one.module.find('.'));
    for (const std::string &folder : folders_) {
      const std::string place = folder + "/" + first;
      const bool is_here =
          disk_.exists(place + ".py") || disk_.exists(place + "/__init__.py") ||
          (first != one.module && disk_.exists(folder + "/" + as_path(one.module) + ".py"));
      if (first.empty() || !is_here)
        continue;
      if (imported_from(folder, one))
        include_root(folder);
      return;
    }
  }

  /// @return whether any file of the project was found
  bool imported_from(const std::string &folder, const PythonImport &one) {
    bool any = false;
    std::string place = folder;
    std::size_t begin = 0;
    while (begin < one.module.size()) {
      const std::size_t end = std::min(one.module.find('.', begin), one.module.size());
      place += "/" + one.module.substr(begin, end - begin);
      any |= take(place + "/__init__.py");
      begin = end + 1;
    }
    if (place != folder)
      any |= take(place + ".py");
    for (const std::string &name : one.names) {
      any |= take(place + "/" + as_path(name) + ".py");
      any |= take(place + "/" + as_path(name) + "/__init__.py");
    }
    return any;
  }

  bool take(const std::string &path) {
    if (path == own_ || found_.contains(path))
      return true;
    if (is_too_much())
      return false;
    auto text = disk_.read(path);
    if (!text)
      return false;
    bytes_ += text->size();
    found_.emplace(path, std::move(*text));
    open_.push_back(path);
    include_root(folder_of(path));
    return true;
  }

  /// Moves root_ up until it contains `folder`.
  void include_root(const std::string &folder) {
    while (!(folder + "/").starts_with(root_ + "/"))
      root_ = folder_of(root_);
  }

  const std::string own_;
  const ProjectDisk &disk_;
  std::vector<std::string> folders_; ///< nearest first
  std::map<std::string, std::string> found_;
  std::vector<std::string> open_; ///< files whose imports are not yet followed
  std::string root_;
  std::size_t bytes_ = 0;
};

} // namespace

ProjectDisk no_disk() {
  return {[](const std::string &) { return false; },
          [](const std::string &) { return std::nullopt; }};
}

Result<ProjectImports> project_imports(const std::string &path, const std::string &text,
                                       const ProjectDisk &disk) {
  if (!path.starts_with("/") || path.contains("/../"))
    return ProjectImports{}; // for example an unsaved buffer
  return Resolver(path, disk).resolve(text);
}

} // namespace warpwright::analysis
