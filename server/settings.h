// User settings, from initializationOptions and from workspace/configuration (section
// "warpwright").
//
// A member of the wrong type keeps its value, and a problem names the member, so that typing
// mistakes in a settings file are reported.
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
      python; ///< interpreter with torch for a runner started here; empty: the runner's choice
  std::string device;                       ///< empty: the runner's best
  std::chrono::milliseconds budget{30'000}; ///< wall time of one optimization
  int max_variants = 20;
  std::string policy; ///< in the form of server/policy_choice.h
  bool learn = true;  ///< the cost model also learns from this project's verdicts in the ledger
  std::set<std::string> disabled_rules;
  bool hover = true;
  bool inlay_hints = true;
  bool code_lens = true;
  bool cuda = true, python_modules = true, cpp = true; ///< whether files of the language are looked at
  bool syntax_diagnostics = false; ///< clangd and Python's servers report errors of syntax already
  bool standalone = false; ///< small plans of Python modules are applied without the package
  /// The client's own trust in the workspace. false: nothing is built or run, and no runner is
  /// asked; absent: server/trust.h decides, and asks the user.
  std::optional<bool> trusted;
  bool operator==(const Settings &) const = default;
};

/// Overwrites the members that `json` has: {"runner": "", "python": "", "device": "", "budget":
/// "30s" or 30 (seconds), "maxVariants": 20, "policy": "builtin", "learn": true, "disabledRules": [],
/// "hover": true, "inlayHints": true, "codeLens": {"enable": true}, "languages": {"cuda": true,
/// "python": true, "cpp": true}, "syntaxDiagnostics": false, "standalone": false, "trusted": true}.
/// null changes nothing.
/// @return one sentence for each member that could not be used
std::vector<std::string> update_settings(Settings &settings, const nlohmann::json &json);

} // namespace warpwright::server
