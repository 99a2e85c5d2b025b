// Hardware counters of a verified variant and of the code that it replaces.
#include "server/engine.h"

#include "support/model/verdict_text.h"

#include <algorithm>

namespace warpwright::server {

namespace {

/// Why the runner read no counters.
std::string missing_counters(const model::Verdict &verdict) {
  const auto check = std::ranges::find(verdict.checks, "hardware counters", &model::Check::name);
  return check == verdict.checks.end() ? "the runner reads none" : check->detail;
}

} // namespace

Result<OptimizeSummary> profile(const OptimizeRequest &request, runner::BlockingClient &client,
                                const OptimizeEvents &events, std::stop_token stop) {
  runner::LedgerEntry entry = *request.profiled;
  const runner::VerifyOptions options{.device = request.settings.device, .profile = true};
  auto verdict = client.verify(entry.task, entry.plan, options, stop, events.on_stage);
  if (!verdict)
    return std::unexpected(verdict.error());
  if (verdict->outcome != model::Outcome::Verified)
    return fail("the variant is not verified any more: " + model::outcome_text(*verdict),
                "Optimize the kernel again");
  OptimizeSummary summary{.tried = 1, .verified = 1};
  summary.profile = verdict->counters
                        ? "hardware counters were read by " + verdict->counters->tool
                        : "no hardware counters: " + missing_counters(*verdict);
  entry.verdict = std::move(*verdict);
  if (events.on_entry)
    events.on_entry(std::move(entry));
  return summary;
}

} // namespace warpwright::server
