// Result of one run of `warpwright check` as plain data, and its renderings: a table for terminals,
// Markdown for a comment, SARIF, JUnit. The renderers are pure functions. Only measured values are
// shown: the times and the ratio of an entry come from its verdict.
#pragma once

#include "support/error.h"
#include "support/model/verdict.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::cli {

enum class CheckState { Fine, Worse, Unknown };

/// A changed kernel or module against its older self.
struct CheckedKernel {
  std::string path, name; ///< path from the repository's root
  std::size_t line = 0;
  CheckState state = CheckState::Unknown;
  std::string label;   ///< "SLOWER", "FASTER", "SAME", "WRONG RESULT", "NEW", "UNKNOWN", ...
  std::string message; ///< reason, in one sentence; empty: the numbers say it
  std::optional<model::Verdict> verdict; ///< reference: the base's code; candidate: the changed code
  std::string applied; ///< comparison with the variant of the ledger that was applied; empty: none
};

struct CheckedDiagnostic {
  std::string path;
  std::size_t line = 0, column = 0;
  std::string rule, message;
  std::string severity; ///< "error", "warning", "information", "hint"
  bool fails = false;   ///< as severe as --fail-diagnostics
};

struct CheckResult {
  std::string version, date;
  std::string base, revision; ///< commit, and the name that was given
  std::string device;         ///< empty: no runner was needed, or none answered
  bool on_gpu = false;
  double fail_slower = 0;
  std::vector<CheckedKernel> kernels;
  std::vector<CheckedDiagnostic> diagnostics; ///< that the base does not have
  std::vector<std::pair<std::string, Error>> failures; ///< files that could not be analyzed
  std::vector<std::string> notes; ///< "the histories share no commit"
  std::size_t unchanged = 0, removed = 0, files = 0;

  CheckState state() const;
  std::size_t count(CheckState state) const; ///< kernels, failures and failing diagnostics
};

/// State and label from the verdict's outcome and the interval of its ratio.
/// @param fail_slower share of the base's time: 0.02
/// @param results_may_change a wrong result makes the entry unknown
void judge(CheckedKernel &kernel, double fail_slower, bool results_may_change);

/// "80.1 us -> 97.4 us, 1.22x slower [1.20, 1.23]"; empty without times.
std::string times_text(const CheckedKernel &kernel);
/// "2 kernels changed since 1a2b3c4 (main): 1 worse, 1 unknown, 0 fine"
std::string summary_text(const CheckResult &result);

std::string check_table(const CheckResult &result, bool color);
std::string check_markdown(const CheckResult &result);
/// SARIF 2.1.0 with one run.
nlohmann::json check_sarif(const CheckResult &result);
std::string check_junit(const CheckResult &result);

} // namespace warpwright::cli
