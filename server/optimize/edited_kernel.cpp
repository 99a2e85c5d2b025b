#include "server/optimize/edited_kernel.h"

#include "generator/text/states/generator.h"
#include "generator/text/states/write_plan.h"
#include "server/optimize/advised_policy.h"
#include "server/source_hash.h"
#include "support/model/json.h"

namespace warpwright::server {
namespace {

source::State state_of(const analysis::SourceFile &file, const analysis::ParseSettings &settings,
                       const std::string &kernel) {
  return {.file = file, .settings = settings, .kernel = kernel, .moves = {}, .provenance = {}};
}

} // namespace

Result<runner::LedgerEntry> edited_kernel(const analysis::SourceFile &original,
                                          const analysis::ParseSettings &original_settings,
                                          const analysis::Kernel &kernel,
                                          const analysis::SourceFile &edited,
                                          const analysis::ParseSettings &edited_settings,
                                          const std::string &proposer) {
  const model::Task &task = kernel.task.task;
  auto plan = states::render_plan(state_of(edited, edited_settings, kernel.name), task);
  if (!plan)
    return fail("the edited text cannot be judged: " + plan.error().message, plan.error().remedy);
  plan->moves.clear();
  model::Plan reference = task.reference;
  reference.moves.clear();
  const bool same_source = source_hash(plan->source) == source_hash(reference.source);
  reference.source = plan->source;
  if (same_source && model::hash(*plan) == model::hash(reference))
    return fail("the edited " + kernel.name + " and its launch are those of the original",
                "Edit the kernel first, or measure it as it is");
  const source::State written = states::with_plan(
      state_of(original, original_settings, kernel.name), task, *plan, proposer);
  runner::LedgerEntry entry{original.path,        kernel.name,
                            task,                 std::move(*plan),
                            {},                   edited.text,
                            source_hash(kernel.slice), proposed(written.provenance)};
  entry.plan.moves = source::to_strings(written.moves);
  return entry;
}

} // namespace warpwright::server
