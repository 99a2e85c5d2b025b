#include "server/optimize/torch_task.h"

#include "generator/planning/module_task.h"

namespace warpwright::server {

Result<TorchTask> make_torch_task(const std::string &name, const std::string &file,
                                  const model::TorchModule &module, runner::TracedModule traced) {
  auto task = planning::module_task(name, file, module, traced.graph, std::move(traced.buffers));
  if (!task)
    return std::unexpected(task.error());
  CallPatterns patterns{traced.input_pattern, traced.output_pattern, {}};
  if (!traced.guards.empty())
    patterns.guards.push_back(std::move(traced.guards));
  return TorchTask{std::move(*task), std::move(traced.graph), std::move(patterns)};
}

} // namespace warpwright::server
