// Choice of the policy that proposes versions of a kernel: the editors' setting `policy`,
// `--policy`, and `policy` of .warpwright.toml. Thread: values, any.
#pragma once

#include "support/error.h"

#include <string>

namespace warpwright::server {

struct PolicyChoice {
  enum class Kind { Ranked, Search, Builtin, Endpoint };
  Kind kind = Kind::Ranked;
  bool is_default = true; ///< nobody chose
  std::string weights;  ///< Builtin: path of a file; empty: the shipped weights
  std::string endpoint; ///< Endpoint: "endpoint:URL#MODEL"
};

inline constexpr const char *kPolicyForms =
    "ranked, search, builtin, builtin:WEIGHTS or endpoint:URL#MODEL";

/// Parses one of kPolicyForms; "" is the default, ranked. Errors: any other text.
Result<PolicyChoice> parse_policy(const std::string &text);

} // namespace warpwright::server
