// Whether a case ended as it must, and how that reads in a report.
// Thread: any.
#pragma once

#include "runner/adversary/case.h"
#include "support/error.h"
#include "support/model/verdict.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace warpwright::runner::adversary {

/// A speedup whose interval lies above this would be offered to somebody.
inline constexpr double kGain = 1.05;

struct CaseResult {
  const Case *subject = nullptr;
  Expectation expected; ///< the accepted one that came true; else the first accepted
  std::string outcome;  ///< of the verdict; "rejected"; "lost" when there was no answer
  std::string check;    ///< that failed; empty when none did
  std::string message;
  std::optional<double> speedup;
  bool refused = false; ///< nothing comes of the candidate: not verified, or no gain, as expected
  bool as_expected = false;
};

/// @param accepted not empty
CaseResult judge(const Case &subject, const std::vector<Expectation> &accepted,
                 const Result<model::Verdict> &verdict);

/// "wrong_result: matches the reference"
std::string text(const Expectation &expectation);
nlohmann::json to_json(const CaseResult &result);

} // namespace warpwright::runner::adversary
