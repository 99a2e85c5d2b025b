// Who proposes versions of a kernel, as the user says it: the setting `policy` of editors, `--policy`, `policy` of .warpwright.toml.
// Thread: values, any.
#pragma once

#include "support/error.h"

#include <string>

namespace warpwright::server {

struct PolicyChoice {
  enum class Kind { Search, Builtin, Endpoint };
  Kind kind = Kind::Search;
  std::string weights;  ///< Builtin: a file; empty: those that ship
  std::string endpoint; ///< Endpoint: "endpoint:URL#MODEL"
};

inline constexpr const char *kPolicyForms =
    "search, builtin, builtin:WEIGHTS or endpoint:URL#MODEL";

/// "": search. Errors: another word.
Result<PolicyChoice> parse_policy(const std::string &text);

} // namespace warpwright::server
