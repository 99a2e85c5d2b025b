#include "analysis/config/program_place.h"
#include "support/text.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

namespace warpwright::config {
namespace {

namespace path = llvm::sys::path;

constexpr int kMostLevels = 3;                     ///< folders above the file's own
constexpr int kMostDepth = 6;                      ///< folders below a project's
constexpr std::size_t kMostSources = 12;           ///< of a program; more are not parsed
constexpr std::size_t kMostFiles = 600;            ///< of a project
constexpr std::size_t kMostEntries = 5000;         ///< of the folders that are listed
constexpr std::uint64_t kMostProjectBytes = 16u << 20; ///< of the files of a project
constexpr std::uint64_t kMostFileBytes = 1u << 20; ///< larger files are data

constexpr auto kSources = std::to_array<llvm::StringRef>({".cu", ".cpp", ".cc", ".cxx", ".c"});
constexpr auto kHeaders = std::to_array<llvm::StringRef>(
    {".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".ipp", ".tpp"});
constexpr auto kBuildFiles = std::to_array<const char *>(
    {"Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "compile_commands.json",
     ".warpwright.toml", "meson.build", "setup.py", "BUILD", ".git"});

/// Returns true if a text seems to define `main`.
bool has_main(std::string_view text) {
  for (std::size_t at = text.find("main"); at != text.npos; at = text.find("main", at + 1)) {
    const std::size_t open = text.find_first_not_of(" \t\r\n", at + 4);
    if ((at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.')) && open != text.npos &&
        text[open] == '(')
      return true;
  }
  return false;
}

/// Names of the functions declared __global__ in a text.
std::vector<std::string> kernel_names(std::string_view text) {
  static constexpr std::string_view kMark = "__global__";
  std::vector<std::string> names;
  for (std::size_t at = text.find(kMark); at != text.npos; at = text.find(kMark, at)) {
    at += kMark.size();
    for (std::size_t open = text.find('(', at); open != text.npos; open = text.find('(', open)) {
      std::size_t end = open;
      while (end > at && std::isspace(static_cast<unsigned char>(text[end - 1])))
        --end;
      std::size_t begin = end;
      while (begin > at && is_word(text[begin - 1]))
        --begin;
      const std::string_view name = text.substr(begin, end - begin);
      if (!name.starts_with("__launch_bounds") && !name.starts_with("__cluster")) {
        if (!name.empty())
          names.emplace_back(name);
        break;
      }
      open = text.find(')', open); // behind the attribute
      if (open == text.npos)
        break;
      ++open;
    }
  }
  return names;
}

/// A source or header of a project, as it was when it was listed.
struct ListedFile {
  std::string path;
  llvm::sys::TimePoint<> modified;
  std::uint64_t bytes = 0;
  bool operator==(const ListedFile &) const = default;
};

/// Lists the sources and headers of a folder and of those below it.
class Listing {
public:
  Listing(llvm::vfs::FileSystem &files, const std::string &folder) : files_(files) {
    list(folder, 0);
  }
  std::vector<ListedFile> take() { return std::move(found_); }

private:
  void list(const std::string &folder, int depth) {
    std::error_code error;
    std::vector<std::string> folders;
    for (llvm::vfs::directory_iterator entry = files_.dir_begin(folder, error), end;
         !error && entry != end && ++entries_ < kMostEntries; entry.increment(error)) {
      const llvm::StringRef name = path::filename(entry->path());
      if (name.starts_with("."))
        continue;
      if (entry->type() == llvm::sys::fs::file_type::directory_file)
        folders.push_back(entry->path().str());
      else
        add(entry->path().str());
    }
    for (const std::string &one : folders)
      if (depth < kMostDepth)
        list(one, depth + 1);
  }

  void add(const std::string &file) {
    const llvm::StringRef extension = path::extension(file);
    if ((std::ranges::find(kSources, extension) == kSources.end() &&
         std::ranges::find(kHeaders, extension) == kHeaders.end()) ||
        found_.size() >= kMostFiles)
      return;
    const auto status = files_.status(file);
    if (!status || !status->isRegularFile() || status->getSize() > kMostFileBytes ||
        bytes_ + status->getSize() > kMostProjectBytes)
      return;
    bytes_ += status->getSize();
    found_.push_back({file, status->getLastModificationTime(), status->getSize()});
  }

  llvm::vfs::FileSystem &files_;
  std::vector<ListedFile> found_;
  std::size_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

} // namespace

/// The files of one folder and those below it, with their includes.
class ProgramFinder::Project {
public:
  Project(llvm::vfs::FileSystem &files, std::vector<ListedFile> listed)
      : listed_(std::move(listed)) {
    for (const ListedFile &one : listed_)
      if (const auto buffer = files.getBufferForFile(one.path))
        texts_[one.path] = (*buffer)->getBuffer().str();
    for (const auto &[file, text] : texts_)
      for (const std::string &name : includes_of(text))
        if (const std::string target = resolve(name, file); !target.empty() && target != file)
          includers_[target].insert(file);
  }

  const std::vector<ListedFile> &listed() const { return listed_; }

  /// Source files that include `file` and that no other file includes.
  std::vector<std::string> sources_that_include(const std::string &file) const {
    std::vector<std::string> found;
    std::set<std::string> seen{file};
    std::vector<std::string> open{file};
    while (!open.empty()) {
      const auto includers = includers_.find(open.back());
      open.pop_back();
      if (includers == includers_.end())
        continue;
      for (const std::string &includer : includers->second)
        if (seen.insert(includer).second) {
          open.push_back(includer);
          if (std::ranges::find(kSources, path::extension(includer)) != kSources.end() &&
              !includers_.contains(includer))
            found.push_back(includer);
        }
    }
    std::ranges::sort(found);
    return found;
  }

  /// The other sources that are linked with a source, if one of all has `main`; that one comes first.
  std::vector<std::string> linked_with(const std::string &source) const {
    const auto own = texts_.find(source);
    if (own == texts_.end())
      return {};
    std::vector<std::string> linked, with_main;
    for (const auto &[file, text] : texts_)
      if (std::ranges::find(kSources, path::extension(file)) != kSources.end() &&
          !includers_.contains(file) && file != source)
        (has_main(text) ? with_main : linked).push_back(file);
    if (has_main(own->second))
      return with_main.empty() && linked.size() < kMostSources ? linked : std::vector<std::string>();
    if (with_main.size() > 1) // several programs: that of the source's own folder
      std::erase_if(with_main, [&](const std::string &file) {
        return path::parent_path(file) != path::parent_path(source);
      });
    if (with_main.size() != 1 || linked.size() >= kMostSources)
      return {};
    linked.insert(linked.begin(), with_main.front());
    return linked;
  }

  const std::string &text_of(const std::string &file) const { return texts_.at(file); }

private:
  static std::vector<std::string> includes_of(const std::string &text) {
    static constexpr std::string_view kInclude = "include";
    std::vector<std::string> names;
    for (std::size_t at = text.find('#'); at != text.npos; at = text.find('#', at + 1)) {
      std::size_t word = text.find_first_not_of(" \t", at + 1);
      if (word == text.npos || text.compare(word, kInclude.size(), kInclude) != 0)
        continue;
      const std::size_t open = text.find_first_not_of(" \t", word + kInclude.size());
      if (open == text.npos || text[open] != '"')
        continue;
      const std::size_t close = text.find_first_of("\"\n", open + 1);
      if (close != text.npos && text[close] == '"')
        names.push_back(text.substr(open + 1, close - open - 1));
    }
    return names;
  }

  /// The file of the project that `#include "name"` in `from` means; empty: none. Folders of -I
  /// flags are not known, so the end of a path may be enough.
  std::string resolve(const std::string &name, const std::string &from) const {
    llvm::SmallString<128> beside(path::parent_path(from));
    path::append(beside, name);
    path::remove_dots(beside, /*remove_dot_dot=*/true);
    if (texts_.contains(std::string(beside)))
      return std::string(beside);
    llvm::StringRef tail(name);
    while (tail.consume_front("../") || tail.consume_front("./"))
      ;
    const std::string end = "/" + tail.str();
    for (const auto &[file, text] : texts_)
      if (file.ends_with(end))
        return file;
    return {};
  }

  std::vector<ListedFile> listed_;
  std::map<std::string, std::string> texts_; ///< by path
  std::map<std::string, std::set<std::string>> includers_;
};

ProgramFinder::ProgramFinder(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files)
    : files_(std::move(files)) {}

ProgramFinder::~ProgramFinder() = default;

const ProgramFinder::Project &ProgramFinder::project(const std::string &folder) {
  std::vector<ListedFile> listed = Listing(*files_, folder).take();
  std::unique_ptr<const Project> &known = projects_[folder];
  if (!known || known->listed() != listed)
    known = std::make_unique<Project>(*files_, std::move(listed));
  return *known;
}

bool has_build_file(llvm::vfs::FileSystem &files, const std::string &folder) {
  return std::ranges::any_of(kBuildFiles,
                             [&](const char *name) { return files.exists(folder + "/" + name); });
}

ProgramPlace ProgramFinder::place_of(const std::string &file) {
  const auto status = files_->status(file);
  if (!status || !status->isRegularFile() || status->getSize() > kMostFileBytes)
    return {};
  const auto buffer = files_->getBufferForFile(file);
  if (!buffer)
    return {};
  const std::vector<std::string> kernels = kernel_names((*buffer)->getBuffer());
  if (kernels.empty())
    return {};
  ProgramPlace found;
  std::string folder = path::parent_path(file).str();
  for (int level = 0; level <= kMostLevels && folder.size() > 1; ++level) {
    if (has_build_file(*files_, folder)) {
      const Project &around = project(folder);
      const std::vector<std::string> sources = around.sources_that_include(file);
      const auto named = [&](const std::string &source) {
        return std::ranges::count_if(kernels, [&](const std::string &kernel) {
          return mentions(around.text_of(source), kernel);
        });
      };
      if (!sources.empty())
        found.included_by = *std::ranges::max_element(sources, {}, named);
      std::ranges::copy_if(sources, std::back_inserter(found.other_includers),
                           [&](const std::string &source) { return source != found.included_by; });
      found.sources = around.linked_with(found.included_by.empty() ? file : found.included_by);
      if (!found.included_by.empty() || !found.sources.empty() || has_main((*buffer)->getBuffer()))
        return found;
    }
    if (files_->exists(folder + "/.git"))
      break;
    folder = path::parent_path(folder).str();
  }
  return found;
}

} // namespace warpwright::config
