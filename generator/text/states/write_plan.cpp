// A plan's kernel and launch as edits of the user's file, and the proof that the edited file has
// the same launch; see write_plan.h.
#include "generator/text/states/write_plan.h"

#include "analysis/guard/guard.h"
#include "generator/text/source/launch_writer.h"
#include "generator/text/source/merge_source.h"
#include "support/model/json.h"

#include <algorithm>

namespace warpwright::states {
namespace {

constexpr std::string_view kRewrite = "rewrite";

/// Requires that a plan equals the reference apart from source and launch, because the user's file
/// does the rest around its launch. Errors: the difference.
Result<void> check_frame(const model::Plan &plan, const model::Plan &reference) {
  if (!source::only_launch(plan))
    return fail("it has " + std::to_string(plan.steps.size()) +
                " steps, and the file launches one kernel");
  if (plan.steps.size() != reference.steps.size())
    return fail("it sets memory otherwise than the file does");
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].index() != reference.steps[i].index() ||
        (!std::holds_alternative<model::LaunchStep>(plan.steps[i]) &&
         plan.steps[i] != reference.steps[i]))
      return fail("it sets memory otherwise than the file does");
  if (plan.temporaries != reference.temporaries)
    return fail("it needs additional buffers, which the file does not allocate");
  for (const std::string &option : plan.options)
    if (!option.starts_with("-std=") &&
        std::ranges::find(reference.options, option) == reference.options.end())
      return fail("it is to be compiled with " + option + ", which is not the file's to say");
  return {};
}

/// Requires that the written file has no more parse errors than before, and the answer's launch.
Result<void> check_written(const source::State &before, const source::State &after,
                           const model::Task &task, const model::LaunchStep &wanted) {
  const auto errors = [](const source::State &state) -> Result<std::vector<std::string>> {
    auto unit = source::parse(state);
    if (!unit)
      return std::unexpected(unit.error());
    std::vector<std::string> messages;
    for (const analysis::Diagnostic &diagnostic : (*unit)->syntax_diagnostics())
      if (diagnostic.severity == analysis::Severity::Error)
        messages.push_back(diagnostic.message);
    return messages;
  };
  const auto old = errors(before), now = errors(after);
  if (!old || !now)
    return std::unexpected((old ? now : old).error());
  if (now->size() > old->size())
    return fail("the file does not compile with it: " + now->back());
  const auto rendered = render_plan(after, task);
  if (!rendered)
    return fail("the launch in the file does not fit it: " + rendered.error().message);
  if (!source::same_launch(*source::only_launch(*rendered), wanted, task))
    return fail("its launch cannot be written in this file");
  return {};
}

/// write_plan() without the guard.
Result<source::State> written_plan(const source::State &original, const model::Task &task,
                                   const model::Plan &plan) {
  if (!source::only_launch(task.reference))
    return fail("the file launches more than one kernel");
  if (auto frame = check_frame(plan, task.reference); !frame)
    return std::unexpected(frame.error());
  auto source = source::KernelSource::open(original);
  if (!source)
    return std::unexpected(source.error());
  if (source->launches().size() != 1)
    return fail("the file launches it in " + std::to_string(source->launches().size()) + " places");
  auto answer = analysis::parse_stub({"answer.cu", plan.source}, original.settings);
  if (!answer)
    return std::unexpected(answer.error());
  const model::LaunchStep &wanted = *source::only_launch(plan);
  const auto merged = merge_source(*source, **answer, source::base_name(wanted.kernel));
  if (!merged)
    return std::unexpected(merged.error());
  auto edits = write_launch(*source, task, wanted);
  if (!edits)
    return std::unexpected(edits.error());
  edits->insert(edits->end(), merged->begin(), merged->end());
  auto text = apply_edits(original.text(), *edits);
  if (!text)
    return fail("its edits clash: " + text.error().message);
  source::State written = original;
  written.set_text(std::move(*text));
  if (auto checked = check_written(original, written, task, wanted); !checked)
    return std::unexpected(checked.error());
  return written;
}

} // namespace

Result<source::State> write_plan(const source::State &original, const model::Task &task,
                                 const model::Plan &plan) {
  return analysis::guarded(analysis::kCommandLimits,
                           [original, task, plan] { return written_plan(original, task, plan); });
}

source::State with_plan(const source::State &original, const model::Task &task,
                        const model::Plan &plan, const std::string &proposer) {
  constexpr std::size_t kHashDigits = 8;
  auto written = write_plan(original, task, plan);
  source::State state = written ? std::move(*written) : original;
  if (!written)
    state.provenance.not_applicable = written.error().message;
  state.provenance.proposer = proposer;
  state.provenance.answer = plan;
  state.moves = {{std::string(kRewrite),
                  {{"by", proposer}, {"plan", model::hash(plan).substr(0, kHashDigits)}}}};
  return state;
}

bool is_rewrite(const std::vector<std::string> &moves) {
  return !moves.empty() && moves.front().starts_with(std::string(kRewrite) + "(");
}

} // namespace warpwright::states
