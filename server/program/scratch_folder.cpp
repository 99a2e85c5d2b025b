#include "server/program/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace warpwright::program {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLevels = 6;        ///< of folders above, up to the repository's root
constexpr int kLevelsWithoutRoot = 2; ///< where no repository is seen

std::unexpected<Error> cannot(const std::string &action, const fs::path &path, const std::error_code &error) {
  return fail("cannot " + action + " " + path.string() + ": " + error.message(),
              "TMPDIR names the folder for copies of the program's folder");
}

/// Folders above whose contents are none of the program's.
bool is_shared(const fs::path &folder) {
  const char *home = std::getenv("HOME");
  std::error_code error;
  return folder == folder.root_path() || folder == "/home" || folder == "/tmp" || (home && folder == fs::path(home)) ||
         folder == fs::temp_directory_path(error);
}

/// How many folders above `folder` are shown beside the place.
int levels_above(const fs::path &folder) {
  std::error_code error;
  int level = 0;
  for (fs::path at = folder; level < kMostLevels; at = at.parent_path(), ++level) {
    if (fs::exists(at / ".git", error))
      return level;
    if (is_shared(at.parent_path()))
      return std::min(level, kLevelsWithoutRoot);
  }
  return kLevelsWithoutRoot;
}

/// Links in `to` to all entries of `from` but one.
void link_entries(const fs::path &from, const fs::path &to, const fs::path &but) {
  std::error_code error;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(from, fs::directory_options::skip_permission_denied, error))
    if (entry.path().filename() != but && entry.path().filename() != ".git")
      fs::create_symlink(entry.path(), to / entry.path().filename(), error);
}

bool is_left_out(const fs::directory_entry &entry) {
  std::error_code error;
  return entry.is_directory(error) && !entry.is_symlink(error) &&
         (entry.path().filename() == ".git" || fs::exists(entry.path() / "CMakeCache.txt", error));
}

Result<void> copy_entry(const fs::directory_entry &entry, const fs::path &to) {
  std::error_code error;
  if (entry.is_symlink(error)) {
    fs::copy_symlink(entry.path(), to, error);
  } else if (entry.is_directory(error)) {
    fs::create_directory(to, entry.path(), error);
  } else if (entry.is_regular_file(error)) {
    fs::copy_file(entry.path(), to, error);
    if (!error)
      fs::last_write_time(to, entry.last_write_time(error), error);
  }
  if (error)
    return cannot("copy", entry.path(), error);
  return {};
}

Result<void> copy_tree(const fs::path &from, const fs::path &to) {
  std::error_code error;
  fs::create_directories(to, error);
  fs::recursive_directory_iterator entry(from, error), end;
  while (!error && entry != end) {
    if (is_left_out(*entry))
      entry.disable_recursion_pending();
    else
      TRY(copy_entry(*entry, to / entry->path().lexically_relative(from)));
    entry.increment(error);
  }
  if (error)
    return cannot("copy", from, error);
  return {};
}

std::map<std::string, ListedFile> listing(const fs::path &folder) {
  std::map<std::string, ListedFile> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && entry != end; entry.increment(error))
    if (std::error_code unknown; entry->is_regular_file(unknown) && !entry->is_symlink(unknown))
      files[entry->path().lexically_relative(folder).string()] = {entry->file_size(unknown),
                                                                  entry->last_write_time(unknown)};
  return files;
}

} // namespace

Result<ScratchFolder> ScratchFolder::make(const fs::path &folder) {
  std::error_code error;
  ScratchFolder scratch;
  scratch.folder_ = fs::canonical(folder, error);
  if (error)
    return cannot("read", folder, error);
  std::string name = (fs::temp_directory_path(error) / "warpwright-program-XXXXXX").string();
  if (error || !::mkdtemp(name.data()))
    return fail("cannot make a folder like " + name + ": " + std::strerror(errno), "Set TMPDIR to a folder with room");
  scratch.root_ = fs::canonical(name, error);
  const int levels = levels_above(scratch.folder_);
  std::vector<fs::path> above; // nearest first
  for (fs::path at = scratch.folder_; static_cast<int>(above.size()) < levels; at = at.parent_path())
    above.push_back(at.parent_path());
  fs::path place = scratch.root_ / "run";
  for (std::size_t i = above.size(); i-- > 0;) {
    const fs::path inner = i == 0 ? scratch.folder_.filename() : above[i - 1].filename();
    fs::create_directories(place, error);
    link_entries(above[i], place, inner);
    place /= inner;
  }
  scratch.place_ = above.empty() ? place / scratch.folder_.filename() : place;
  fs::create_directories(scratch.place_.parent_path(), error);
  fs::create_directories(scratch.root_ / "trees", error);
  if (error)
    return cannot("make", scratch.place_, error);
  return scratch;
}

ScratchFolder::ScratchFolder(ScratchFolder &&other) noexcept
    : folder_(std::move(other.folder_)), root_(std::exchange(other.root_, {})), place_(std::move(other.place_)) {}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!root_.empty())
    fs::remove_all(root_, error); // links are removed, not what they name
}

Result<void> ScratchFolder::fill(const fs::path &from) {
  std::error_code error;
  fs::remove_all(place_, error);
  if (error)
    return cannot("remove", place_, error);
  return copy_tree(from, place_);
}

Result<void> ScratchFolder::start() { return fill(folder_); }
Result<void> ScratchFolder::restore(const std::string &tree) { return fill(tree_path(tree)); }

Result<void> ScratchFolder::keep(const std::string &tree) {
  std::error_code error;
  fs::remove_all(tree_path(tree), error);
  fs::rename(place_, tree_path(tree), error);
  if (error)
    return cannot("move", place_, error);
  return {};
}

std::vector<std::string> ScratchFolder::changed_since(const std::string &tree) const {
  const auto before = listing(tree_path(tree));
  std::vector<std::string> changed;
  for (const auto &[path, file] : listing(place_))
    if (const auto old = before.find(path); old == before.end() || !(old->second == file))
      changed.push_back(path);
  return changed;
}

void touch_sources(const fs::path &folder) {
  static const std::set<std::string> kSources{".cu", ".cuh", ".c",   ".cc",  ".cpp", ".cxx", ".h",
                                              ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tpp"};
  const auto now = fs::file_time_type::clock::now();
  for (const auto &[path, file] : listing(folder))
    if (std::error_code error; kSources.contains(fs::path(path).extension().string()))
      fs::last_write_time(folder / path, now, error);
}

} // namespace warpwright::program
