#include "server/optimize/project.h"

#include "analysis/task/captured_sizes.h"
#include "analysis/task/infer_task.h"
#include "runner/connect/connect.h"

namespace warpwright::server {

Result<std::string> runner_of(const config::ProjectConfig &project, const std::string &chosen) {
  if (!chosen.empty())
    return chosen;
  if (project.runner_error)
    return std::unexpected(*project.runner_error);
  return project.runner_url.empty() ? runner::local_url(project.python) : project.runner_url;
}

void complete_tasks(analysis::FileFacts &facts, const std::string &text,
                    const config::FileSettings &settings, const RunsOfFile &runs,
                    const std::optional<analysis::Spec> &given, const FileSystem &files) {
  std::unique_ptr<analysis::ParsedUnit> unit;
  std::optional<analysis::HostProgram> program;
  for (analysis::Kernel &kernel : facts.kernels) {
    analysis::Spec spec;
    const CapturedRun *run = nullptr;
    for (const auto &one : runs)
      if (!run && (kernel.captured = captured_time(*one, kernel.name)))
        run = one.get();
    for (const analysis::MissingFact &fact : kernel.task.missing)
      if (const auto size = settings.project.sizes.find(fact.name);
          size != settings.project.sizes.end())
        spec.sizes.insert(*size);
    if (given)
      analysis::merge(spec, *given);
    if ((!given && spec.sizes.empty() && !run) || kernel.slice.empty())
      continue;
    if (!unit)
      if (auto parsed = analysis::parse_stub({facts.path, text}, settings.parse, files))
        program.emplace(*(unit = std::move(*parsed)));
    const clang::FunctionDecl *declaration = unit ? unit->find_kernel(kernel.name) : nullptr;
    if (declaration && run)
      spec.captured = captured_launch(*run, *declaration);
    if (declaration)
      kernel.task = analysis::infer_task(*program, *declaration, kernel, kernel.slice, spec);
    if (const auto &launch = kernel.task.captured; launch && launch->mean_ns > 0 && kernel.captured &&
                                                   kernel.task.inferred && is_launched_as(kernel.task.task, *launch))
      kernel.captured->launch_ns = launch->mean_ns;
  }
}

} // namespace warpwright::server
