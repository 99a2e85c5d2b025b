#include "server/torch/torch_task.h"

#include "generator/fusion/module_task.h"

namespace warpwright::server {

Result<TorchTask> make_torch_task(const std::string &name, const std::string &file,
                                  const model::TorchModule &module, runner::TracedModule traced) {
  auto task = generator::module_task(name, file, module, traced.graph, std::move(traced.buffers));
  if (!task)
    return std::unexpected(task.error());
  return TorchTask{
      std::move(*task), std::move(traced.graph), {traced.input_pattern, traced.output_pattern}};
}

} // namespace warpwright::server
