// The plan of a state: the slice of the edited file, and its launch over the original task.
//
// Fills and temporaries come from the reference, because moves change only the kernel and its launch.
#include "generator/text/states/generator.h"

#include "analysis/guard/guard.h"
#include "analysis/task/infer_task.h"
#include "generator/text/source/launch_writer.h"
#include "support/files.h"
#include "support/text.h"

#include <algorithm>

namespace warpwright::states {
namespace {

/// The launch of a task without sizes after the changes of moves, as the edited text has it.
Result<model::LaunchStep> changed_launch(model::LaunchStep launch, const std::vector<source::LaunchChange> &changes) {
  const auto ceil_div = [](std::int64_t number, std::int64_t divisor) { return (number + divisor - 1) / divisor; };
  for (const source::LaunchChange &change : changes)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t blocks = TRY(launch.grid[axis].evaluate({})) * (axis == 0 ? change.grid_factor : 1);
      launch.grid[axis] = ceil_div(blocks, change.grid_divisors[axis]);
      if (change.block[axis] == 0)
        continue;
      const std::int64_t threads = TRY(launch.block[axis].evaluate({}));
      launch.grid[axis] = ceil_div(blocks * threads, change.block[axis]);
      launch.block[axis] = change.block[axis];
    }
  return launch;
}

/// render_plan() without the guard.
Result<model::Plan> parsed_plan(const source::State &state, const model::Task &task) {
  auto unit = source::parse(state);
  if (!unit)
    return std::unexpected(unit.error());
  const clang::FunctionDecl *kernel = (*unit)->find_kernel(state.kernel);
  if (!kernel)
    return fail("no kernel " + state.kernel + " in " + state.file.path,
                "Check the name, and that the file parses");
  auto slice = analysis::slice_kernel(**unit, *kernel);
  if (!slice)
    return std::unexpected(slice.error());
  const model::LaunchStep *known = state.keeps_launch ? source::only_launch(task.reference) : nullptr;
  auto launch = known ? changed_launch(*known, state.launch_changes) : analysis::launch_step(**unit, *kernel, task);
  if (!launch)
    return std::unexpected(launch.error());
  const auto is_launch = [](const model::Step &step) {
    return std::holds_alternative<model::LaunchStep>(step);
  };
  if (std::ranges::count_if(task.reference.steps, is_launch) != 1)
    return fail("the task of " + state.kernel + " does not have exactly one launch",
                "Optimize kernels that are launched one at a time");
  model::Plan plan = task.reference;
  plan.source = std::move(*slice);
  *std::ranges::find_if(plan.steps, is_launch) = *launch;
  plan.moves = to_strings(state.moves);
  return plan;
}

/// The file's text; empty if it cannot be read.
std::string text_of_file(const std::string &path, const Texts &changed) {
  if (const auto known = changed.find(path); known != changed.end())
    return known->second;
  return read_file(path).value_or("");
}

/// The file that includes the state's and launches its kernel; no path if there is none, or if another
/// file of the program may launch the kernel too.
analysis::SourceFile includer_of(const source::State &state, const Texts &changed) {
  const analysis::ParseSettings &settings = state.settings;
  if (settings.included_by.empty() || state.file.text.contains(source::kTextEnd))
    return {};
  const std::string name = source::base_name(state.kernel);
  analysis::SourceFile includer{settings.included_by, text_of_file(settings.included_by, changed)};
  if (!mentions(includer.text, name) || includer.text.contains(source::kTextEnd))
    return {};
  for (const std::vector<std::string> *paths : {&settings.program, &settings.other_includers})
    for (const std::string &path : *paths)
      if (path != includer.path && path != state.file.path && mentions(text_of_file(path, changed), name))
        return {};
  return includer;
}

/// Returns true if the text gives another launch of the kernel than the task, or none.
bool differs_in_launch(const source::State &state, const model::Task &task) {
  const model::LaunchStep *wanted = source::only_launch(task.reference);
  auto unit = source::parse(state);
  const clang::FunctionDecl *kernel = unit ? (*unit)->find_kernel(state.kernel) : nullptr;
  if (!wanted || !kernel)
    return false;
  const auto launch = analysis::launch_step(**unit, *kernel, task);
  return !launch || !source::same_launch(*launch, *wanted, task);
}

} // namespace

source::State state_of_file(analysis::SourceFile file, analysis::ParseSettings settings, const std::string &kernel,
                            const model::Task &task, const arch::Gpu &gpu, const Texts &changed) {
  source::State state{std::move(file), std::move(settings), kernel, {}, {}, gpu, argument_values(task),
                      launch_extents(task)};
  state.includer = includer_of(state, changed);
  if (task.sizes.empty()) // as a task has them whose launch comes from a run
    if (const auto differs = analysis::guarded(
            analysis::kCommandLimits, [state, task]() -> Result<bool> { return differs_in_launch(state, task); }))
      state.keeps_launch = *differs;
  return state;
}

std::vector<std::optional<std::int64_t>> argument_values(const model::Task &task) {
  std::vector<std::optional<std::int64_t>> values;
  for (const model::Step &step : task.reference.steps)
    if (const auto *launch = std::get_if<model::LaunchStep>(&step))
      for (const model::Argument &argument : launch->arguments) {
        const auto *size = std::get_if<model::SizeArgument>(&argument);
        const auto value = size ? size->value.evaluate(task.sizes) : fail("no integer");
        values.push_back(value ? std::optional(*value) : std::nullopt);
      }
  return values;
}

std::vector<std::int64_t> launch_extents(const model::Task &task) {
  std::vector<std::int64_t> extents;
  const model::LaunchStep *launch = source::only_launch(task.reference);
  if (!launch)
    return {};
  for (const auto &shape : {launch->grid, launch->block})
    for (const symbolic::Expression &extent : shape) {
      const auto value = extent.evaluate(task.sizes);
      if (!value)
        return {};
      extents.push_back(*value);
    }
  return extents;
}

Result<model::Plan> render_plan(const source::State &state, const model::Task &task) {
  if (state.provenance.answer && !state.provenance.not_applicable.empty()) {
    model::Plan answer = *state.provenance.answer;
    answer.moves = to_strings(state.moves);
    return answer;
  }
  return analysis::guarded(analysis::kCommandLimits,
                           [state, task] { return parsed_plan(state, task); });
}

} // namespace warpwright::states
