// Clang's own headers (stddef.h, the x86 intrinsics, the CUDA wrappers), embedded in the binary.
//
// The full pass needs them on machines without Clang. They are stored in a packed archive of 0.5
// MB, which the program unpacks once and shares between all parsers. Headers of other targets are
// not included. Thread: immutable after unpack().
#pragma once

#include "support/error.h"
#include "support/text.h"

#include <llvm/Support/VirtualFileSystem.h>
#include <memory>
#include <string>
#include <vector>

namespace warpwright::analysis {

class ResourceHeaders {
public:
  /// Errors: the embedded archive is damaged.
  static Result<std::shared_ptr<const ResourceHeaders>> unpack();

  /// Path for `-resource-dir`.
  static constexpr const char *kDirectory = "/.warpwright-clang";

  /// Serves the headers under kDirectory. `files` refers to the bytes of this object.
  void add_to(llvm::vfs::InMemoryFileSystem &files) const;
  std::size_t count() const { return entries_.size(); }

private:
  struct Entry {
    std::string name; ///< relative to include/
    Range range;      ///< in archive_, followed by a 0
  };

  Result<void> index();

  std::string archive_;
  std::vector<Entry> entries_;
};

} // namespace warpwright::analysis
