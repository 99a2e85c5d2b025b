#include "server/policy_choice.h"

namespace warpwright::server {

Result<PolicyChoice> parse_policy(const std::string &text) {
  using Kind = PolicyChoice::Kind;
  constexpr std::string_view kWeights = "builtin:", kEndpoint = "endpoint:";
  if (text.empty() || text == "search")
    return PolicyChoice{};
  if (text == "builtin")
    return PolicyChoice{.kind = Kind::Builtin};
  if (text.starts_with(kWeights) && text.size() > kWeights.size())
    return PolicyChoice{.kind = Kind::Builtin, .weights = text.substr(kWeights.size())};
  if (text.starts_with(kEndpoint) && text.size() > kEndpoint.size())
    return PolicyChoice{.kind = Kind::Endpoint, .endpoint = text};
  return fail("'" + text + "' is no policy", std::string("Write ") + kPolicyForms);
}

} // namespace warpwright::server
