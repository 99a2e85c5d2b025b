#include "server/policy_choice.h"

namespace warpwright::server {

Result<PolicyChoice> parse_policy(const std::string &text) {
  using Kind = PolicyChoice::Kind;
  constexpr std::string_view kWeights = "builtin:", kEndpoint = "endpoint:";
  if (text.empty())
    return PolicyChoice{};
  if (text == "ranked")
    return PolicyChoice{.is_default = false};
  if (text == "search")
    return PolicyChoice{.kind = Kind::Search, .is_default = false};
  if (text == "builtin")
    return PolicyChoice{.kind = Kind::Builtin, .is_default = false};
  if (text.starts_with(kWeights) && text.size() > kWeights.size())
    return PolicyChoice{.kind = Kind::Builtin, .is_default = false, .weights = text.substr(kWeights.size())};
  if (text.starts_with(kEndpoint) && text.size() > kEndpoint.size())
    return PolicyChoice{.kind = Kind::Endpoint, .is_default = false, .endpoint = text};
  return fail("'" + text + "' is no policy", std::string("Write ") + kPolicyForms);
}

} // namespace warpwright::server
