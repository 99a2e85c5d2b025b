// Cache of compiled code for a compiler. Workers' compilers ask the service (worker/service_cache.h), which alone reads
// and writes the disk (service/code_shelves.h), since whoever takes over a worker could change code that it kept in a
// folder. Thread: that of the compiler.
#pragma once

#include "support/error.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::runner {

struct CompiledCode {
  std::string cubin;
  std::vector<std::string> lowered_names; ///< in the order of the requested kernels
  std::string log;
  double compile_ms = 0;
};

/// JSON of the members: {cubin (base 64), lowered_names, log, compile_ms}.
nlohmann::json to_json(const CompiledCode &code);
/// Errors: a member is missing or has another type.
Result<CompiledCode> compiled_code_from_json(const nlohmann::json &document);

class CompileCache {
public:
  virtual ~CompileCache() = default;
  /// @param key SHA-256 of everything that determines the code @return nullopt: not cached
  virtual std::optional<CompiledCode> find(const std::string &key) = 0;
  virtual void store(const std::string &key, const CompiledCode &code) = 0;
};

/// Cache in this process's memory.
class MemoryCache final : public CompileCache {
public:
  std::optional<CompiledCode> find(const std::string &key) override {
    const auto found = entries.find(key);
    return found == entries.end() ? std::nullopt : std::optional(found->second);
  }
  void store(const std::string &key, const CompiledCode &code) override { entries[key] = code; }

  std::map<std::string, CompiledCode> entries;
};

} // namespace warpwright::runner
