#include "runner/worker/service_cache.h"
#include "runner/worker/worker.h"

namespace warpwright::runner {

std::optional<CompiledCode> ServiceCache::find(const std::string &key) {
  const auto answer = ask_service(kFindCode, {{"key", key}});
  if (!answer || answer->is_null())
    return std::nullopt;
  auto code = compiled_code_from_json(*answer);
  return code ? std::optional(std::move(*code)) : std::nullopt;
}

void ServiceCache::store(const std::string &key, const CompiledCode &code) {
  tell_service(kKeepCode, {{"key", key}, {"code", to_json(code)}});
}

} // namespace warpwright::runner
