#include "server/optimize/project.h"

#include "analysis/task/infer_task.h"

namespace warpwright::server {

void complete_tasks(analysis::FileFacts &facts, const std::string &text,
                    const config::FileSettings &settings,
                    const std::optional<analysis::Spec> &given) {
  std::unique_ptr<analysis::ParsedUnit> unit;
  std::optional<analysis::HostProgram> program;
  for (analysis::Kernel &kernel : facts.kernels) {
    analysis::Spec spec;
    for (const analysis::MissingFact &fact : kernel.task.missing)
      if (const auto size = settings.project.sizes.find(fact.name);
          size != settings.project.sizes.end())
        spec.sizes.insert(*size);
    if (given)
      analysis::merge(spec, *given);
    if ((!given && spec.sizes.empty()) || kernel.slice.empty())
      continue;
    if (!unit)
      if (auto parsed = analysis::parse_stub({facts.path, text}, settings.parse))
        program.emplace(*(unit = std::move(*parsed)));
    if (const auto *declaration = unit ? unit->find_kernel(kernel.name) : nullptr)
      kernel.task = analysis::infer_task(*program, *declaration, kernel, kernel.slice, spec);
  }
}

} // namespace warpwright::server
