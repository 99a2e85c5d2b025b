// Compile cache of a worker, kept by the service and reached over the worker's connection. Thread:
// the job thread.
#pragma once

#include "runner/verify/compile_cache.h"

namespace warpwright::runner {

/// Request `code` {key}, answered with the code or null; notification `compiled` {key, code}.
inline constexpr const char *kFindCode = "code", *kKeepCode = "compiled";

class ServiceCache final : public CompileCache {
public:
  std::optional<CompiledCode> find(const std::string &key) override;
  void store(const std::string &key, const CompiledCode &code) override;
};

} // namespace warpwright::runner
