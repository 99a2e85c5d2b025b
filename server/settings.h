// The user's settings, from initializationOptions and from workspace/configuration (section
// "warpwright").
//
// A member of the wrong type keeps its value and is named in a problem, so a typing mistake in a
// settings file is said, not swallowed.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpwright::server {

struct Settings {
  std::string runner; ///< URL; empty: the runner beside this program
  std::string
      python; ///< interpreter with torch, of a runner started here; empty: the runner's choice
  std::string device;                       ///< empty: the runner's best
  std::chrono::milliseconds budget{30'000}; ///< of one optimisation, wall time
  int max_variants = 20;
  std::string policy; ///< as server/policy_choice.h reads it
  std::set<std::string> disabled_rules;
  bool hover = true;
  bool inlay_hints = true;
  bool standalone = false; ///< applied variants of Python modules with small plans need no package
  /// The client's own notion of trust in the workspace. false: nothing is built or run, and no
  /// runner is asked; absent: server/trust.h decides, and asks.
  std::optional<bool> trusted;
  bool operator==(const Settings &) const = default;
};

/// Overwrites the members that `json` has: {"runner": "", "python": "", "device": "", "budget": "30s" or 30
/// (seconds), "maxVariants": 20, "policy": "builtin", "disabledRules": [], "hover": true, "inlayHints": true, "standalone": false, "trusted": true}.
/// null changes nothing.
/// @return one sentence for each member that could not be used
std::vector<std::string> update_settings(Settings &settings, const nlohmann::json &json);

} // namespace warpwright::server
