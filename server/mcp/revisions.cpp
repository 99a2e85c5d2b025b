#include "server/mcp/revisions.h"
#include "support/version.h"

#include <algorithm>

namespace warpwright::mcp {

bool is_legacy_revision(const std::string &revision) {
  return std::ranges::find(kLegacyRevisions, revision) != std::end(kLegacyRevisions);
}

Json meta_of(const Json &params) {
  if (!params.is_object())
    return Json::object();
  const auto meta = params.find("_meta");
  return meta != params.end() && meta->is_object() ? *meta : Json::object();
}

bool is_modern(const Json &params) { return meta_of(params).contains(kRevisionKey); }

std::optional<rpc::RpcError> metadata_error(const Json &params) {
  const Json meta = meta_of(params);
  if (!meta[kRevisionKey].is_string())
    return rpc::RpcError{rpc::kInvalidParams, std::string(kRevisionKey) + " must be a text", {}};
  if (meta[kRevisionKey] != kModernRevision)
    return unsupported_revision(meta[kRevisionKey].get<std::string>());
  const auto capabilities = meta.find(kCapabilitiesKey);
  if (capabilities == meta.end() || !capabilities->is_object())
    return rpc::RpcError{rpc::kInvalidParams,
                         "_meta must have the object " + std::string(kCapabilitiesKey), {}};
  return std::nullopt;
}

rpc::RpcError unsupported_revision(const std::string &requested) {
  Json supported = Json::array({kModernRevision});
  for (const char *revision : kLegacyRevisions)
    supported.push_back(revision);
  return {kUnsupportedRevision, "Unsupported protocol version",
          {{"supported", std::move(supported)}, {"requested", requested}}};
}

bool can_elicit(const Json &capabilities) {
  const auto found = capabilities.is_object() ? capabilities.find("elicitation") : capabilities.end();
  return capabilities.is_object() && found != capabilities.end() && found->is_object() &&
         (found->empty() || found->contains("form"));
}

Json server_info() {
  return {{"name", "warpwright"}, {"title", "Warpwright"}, {"version", version()}};
}

std::string instructions() {
  return "Warpwright makes CUDA kernels and PyTorch modules faster and proves it. Call analyze to "
         "see kernels and findings, suggest for possible edits, and optimize to let it search. "
         "After each of your edits, call verify: only its outcome counts. Claim a speedup only "
         "if a result's speedup is not null, with its interval, GPU and sizes. Never change the "
         "original, its sizes or its tolerance to get another outcome.";
}

} // namespace warpwright::mcp
