#include "server/optimize/machine_code.h"

#include "runner/shell/runner_files.h"
#include "support/model/json.h"
#include "support/process.h"

namespace warpwright::server {
namespace {

/// Time to compile and disassemble.
constexpr std::chrono::seconds kLimit{90};

} // namespace

Result<features::MachineCode> machine_code_of(const model::Plan &plan, int capability) {
  if (!capability || plan.source.empty())
    return fail("there is no code of a GPU", "Verify it on a runner with a GPU");
  const std::string program = TRY(runner::find_runner());
  const auto run = TRY(run_captured({program, "listing", "-", "--capability", std::to_string(capability)},
                                    model::to_json(plan).dump(), kLimit));
  const nlohmann::json listing = nlohmann::json::parse(run.output, nullptr, false);
  if (!listing.is_object())
    return fail("warpwright-runner listing gave no answer: " + run.errors.substr(0, run.errors.find('\n')));
  if (const auto error = listing.find("error"); error != listing.end())
    return fail(error->value("message", ""), error->value("remedy", ""));
  return features::machine_code_from_json(listing);
}

} // namespace warpwright::server
