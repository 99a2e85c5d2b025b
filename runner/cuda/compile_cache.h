// Compiled code on disk, keyed by everything that decides it. Entries are written whole by an
// atomic rename and carry their own hash, so that processes may share the folder and a torn entry
// is a miss. A folder that cannot be written is no error: there is then no cache. Thread: any.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::runner::cuda {

struct CompiledCode {
  std::string cubin;
  std::vector<std::string> lowered_names; ///< in the order of the kernels asked for
  std::string log;
  double compile_ms = 0;
};

class CompileCache {
public:
  /// @param directory empty: nothing is cached
  explicit CompileCache(std::filesystem::path directory) : directory_(std::move(directory)) {}
  std::optional<CompiledCode> find(const std::string &key) const;
  void store(const std::string &key, const CompiledCode &code) const;

private:
  std::filesystem::path directory_;
};

/// $XDG_CACHE_HOME/warpwright, else ~/.cache/warpwright; empty when neither is set.
std::filesystem::path cache_directory();

} // namespace warpwright::runner::cuda
