// The compile cache of a worker: the service, asked over the worker's own line. Thread: the job thread.
#pragma once

#include "runner/verify/compile_cache.h"

namespace warpwright::runner {

/// `code` {key} is answered with the code or null; `compiled` {key, code} tells of new code.
inline constexpr const char *kFindCode = "code", *kKeepCode = "compiled";

class ServiceCache final : public CompileCache {
public:
  std::optional<CompiledCode> find(const std::string &key) override;
  void store(const std::string &key, const CompiledCode &code) override;
};

} // namespace warpwright::runner
