// Judgment of a case's answer, and its text in a report.
// Thread: any.
#pragma once

#include "runner/adversary/case.h"
#include "support/error.h"
#include "support/model/verdict.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace warpwright::runner::adversary {

/// A speedup with an interval above this counts as a gain.
inline constexpr double kGain = 1.05;

struct CaseResult {
  const Case *subject = nullptr;
  Expectation expected; ///< the accepted answer that was given; else the first accepted one
  std::string outcome;  ///< of the verdict; "rejected"; "lost": no answer
  std::string check;    ///< the failed check; empty: none
  std::string message;
  std::optional<double> speedup;
  bool refused = false; ///< the candidate is not verified, or has no gain, as expected
  bool as_expected = false;
};

/// @param accepted not empty
CaseResult judge(const Case &subject, const std::vector<Expectation> &accepted,
                 const Result<model::Verdict> &verdict);

/// "wrong_result: matches the reference"
std::string text(const Expectation &expectation);
nlohmann::json to_json(const CaseResult &result);

} // namespace warpwright::runner::adversary
