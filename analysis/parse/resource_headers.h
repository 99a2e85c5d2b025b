// Clang's own headers (stddef.h, the x86 intrinsics, the CUDA wrappers), carried inside the binary.
//
// The full pass needs them where no Clang is installed; a packed archive of 0.5 MB holds them.
// Unpacked once by whoever wires the program and shared by all parsers. Leaves out the headers of
// other targets. Thread: immutable after unpack().
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
  /// Errors: the archive inside the binary is damaged.
  static Result<std::shared_ptr<const ResourceHeaders>> unpack();

  /// For `-resource-dir`.
  static constexpr const char *kDirectory = "/.warpwright-clang";

  /// Serves the headers under kDirectory; `files` borrows their bytes.
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
