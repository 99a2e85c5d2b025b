// Copies of a program's folder, in which it is built and run, so that the user's folder stays as it
// is.
//
// All copies are used at one place, so that paths in outputs and in build files are equal. Beside
// the place are links to what lies beside the user's folder and above it, up to the repository's
// root, so that "../data" is found: a program that writes there writes into the original. Not
// copied: .git, and build folders of CMake, which know their own place. Thread: one at a time.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::program {

/// A file of a tree as a listing has it.
struct ListedFile {
  std::uintmax_t size_bytes = 0;
  std::filesystem::file_time_type written;
  bool operator==(const ListedFile &) const = default;
};

class ScratchFolder {
public:
  /// Makes the scratch folder, private to the user, in the system's folder for temporary files.
  /// Errors: the folder cannot be read; no room.
  static Result<ScratchFolder> make(const std::filesystem::path &folder);
  ScratchFolder(ScratchFolder &&other) noexcept;
  ScratchFolder &operator=(ScratchFolder &&) = delete;
  ~ScratchFolder(); ///< deletes all copies

  /// Where commands run.
  const std::filesystem::path &place() const { return place_; }
  /// Another file of the scratch folder, outside of the place: for logs.
  std::filesystem::path beside(const std::string &name) const { return root_ / name; }

  /// Makes the place a fresh copy of the user's folder. Errors: a file cannot be copied.
  Result<void> start();
  /// Makes the place a fresh copy of the tree of this name. Errors: as start().
  Result<void> restore(const std::string &tree);
  /// Moves the place away as the tree of this name, which it replaces.
  Result<void> keep(const std::string &tree);

  /// Files of the place that differ from the tree's, by size or time, or are not in it; paths from
  /// the place, sorted.
  std::vector<std::string> changed_since(const std::string &tree) const;

private:
  ScratchFolder() = default;
  std::filesystem::path tree_path(const std::string &tree) const { return root_ / "trees" / tree; }
  Result<void> fill(const std::filesystem::path &from);

  std::filesystem::path folder_, root_, place_;
};

/// Gives all sources in a folder the present time, so that a build makes all of it anew: build
/// files often do not know on which headers an object depends.
void touch_sources(const std::filesystem::path &folder);

} // namespace warpwright::program
