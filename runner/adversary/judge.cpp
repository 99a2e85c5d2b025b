// Comparison of a verdict with the answers that its case accepts.
#include "runner/adversary/judge.h"
#include "support/model/json.h"

#include <algorithm>

namespace warpwright::runner::adversary {
namespace {

/// Start of the client's message when the service answered with an error instead of a verdict.
constexpr const char *kRefusedRequest = "the runner refused";

void describe_answer(CaseResult &result, const Result<model::Verdict> &verdict) {
  if (!verdict) {
    const bool rejected = verdict.error().message.starts_with(kRefusedRequest);
    result.outcome = rejected ? kRejected.outcome : "lost";
    result.check = rejected ? kRejected.check : "";
    result.message = describe(verdict.error());
    return;
  }
  result.outcome = model::name(verdict->outcome);
  result.message = verdict->message;
  for (const model::Check &check : verdict->checks)
    if (!check.passed)
      result.check = check.name;
  if (verdict->speedup)
    result.speedup = verdict->speedup->ratio;
}

} // namespace

std::string text(const Expectation &expectation) {
  if (expectation.without_gain)
    return expectation.outcome + " without a speedup" +
           (expectation.check.empty() ? "" : ": " + expectation.check);
  return expectation.outcome + (expectation.check.empty() ? "" : ": " + expectation.check);
}

CaseResult judge(const Case &subject, const std::vector<Expectation> &accepted,
                 const Result<model::Verdict> &verdict) {
  CaseResult result{.subject = &subject, .expected = accepted.front()};
  describe_answer(result, verdict);
  const bool gains = verdict && verdict->speedup && verdict->speedup->low > kGain;
  const auto met = std::find_if(accepted.begin(), accepted.end(), [&](const Expectation &wanted) {
    // A verified candidate may have a failed check that is only a note about the second
    // measurement.
    return result.outcome == wanted.outcome &&
           (wanted.check.empty() || result.check == wanted.check) &&
           !(wanted.without_gain && gains);
  });
  result.as_expected = met != accepted.end();
  if (result.as_expected)
    result.expected = *met;
  result.refused =
      result.outcome != kVerified.outcome || (result.as_expected && result.expected.without_gain);
  return result;
}

nlohmann::json to_json(const CaseResult &result) {
  nlohmann::json document = {{"name", result.subject->name},
                             {"family", result.subject->family},
                             {"cheat", result.subject->cheat},
                             {"expected", result.expected.outcome},
                             {"expected_check", result.expected.check},
                             {"outcome", result.outcome},
                             {"check", result.check},
                             {"message", result.message},
                             {"refused", result.refused},
                             {"as_expected", result.as_expected}};
  if (result.speedup)
    document["speedup"] = *result.speedup;
  return document;
}

} // namespace warpwright::runner::adversary
