// Sizes that a project gives to tasks whose sizes nobody wrote.
#include "server/project.h"

#include "analysis/task/infer_task.h"

namespace warpwright::server {

void use_project_sizes(analysis::FileFacts &facts, const std::string &text,
                       const config::FileSettings &settings) {
  std::unique_ptr<analysis::ParsedUnit> unit;
  for (analysis::Kernel &kernel : facts.kernels) {
    analysis::Spec spec;
    for (const analysis::MissingFact &fact : kernel.task.missing)
      if (const auto size = settings.project.sizes.find(fact.name);
          size != settings.project.sizes.end())
        spec.sizes.insert(*size);
    if (spec.sizes.empty() || kernel.slice.empty())
      continue;
    if (!unit)
      if (auto parsed = analysis::parse_stub({facts.path, text}, settings.parse))
        unit = std::move(*parsed);
    if (const auto *declaration = unit ? unit->find_kernel(kernel.name) : nullptr)
      kernel.task = analysis::infer_task(*unit, *declaration, kernel, kernel.slice, spec);
  }
}

} // namespace warpwright::server
