// Machine code of the modules that a program loads. Later steps read the layout of parameters, the
// module's variables and the kernels themselves from it.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::capture {

struct ModuleLimits {
  std::size_t one_bytes = 64 << 20, all_bytes = 256 << 20;
};

class ModuleStore {
public:
  explicit ModuleStore(ModuleLimits limits = {}) : limits_(limits) {}

  /// Keeps a copy of a cubin until write(). A cubin that came before is not kept again.
  /// @return false: the limits do not allow it. Thread: any.
  bool take(std::string_view cubin);
  /// Writes the new cubins as FOLDER/HASH.cubin and forgets their bytes.
  /// Errors: a file cannot be written. Thread: one at a time.
  Result<void> write(const std::filesystem::path &folder);

private:
  const ModuleLimits limits_;
  std::mutex mutex_;
  std::set<std::string> names_;
  std::vector<std::pair<std::string, std::string>> new_; ///< name and bytes
  std::size_t kept_bytes_ = 0;
};

} // namespace warpwright::capture
