#include "generator/planning/module_task.h"

#include "generator/ops/op.h"
#include "generator/ops/verify_graph.h"
#include "support/model/tolerance.h"

#include <algorithm>
#include <set>

namespace warpwright::planning {
namespace {

using model::Buffer;
using model::Direction;

} // namespace

std::int64_t least_bytes(const model::Graph &graph, const std::vector<Buffer> &buffers) {
  std::set<std::string> read; // by an op that takes every element
  for (const model::Node &node : graph.nodes)
    if (!ops::op_of(node).selects)
      read.insert(node.inputs.begin(), node.inputs.end());
  std::int64_t bytes = 0;
  for (const Buffer &buffer : buffers)
    if (buffer.direction == Direction::Out || read.contains(buffer.name))
      bytes += model::elements_of(buffer.shape) *
               static_cast<std::int64_t>(model::size_bytes(buffer.dtype));
  return bytes;
}

Result<model::Task> module_task(const std::string &name, const std::string &file,
                                const model::TorchModule &module, const model::Graph &graph,
                                std::vector<Buffer> buffers) {
  if (const auto good = ops::verify_graph(graph); !good)
    return fail("the runner's graph of the module is not well formed: " + good.error().message,
                "Is the runner of the same version? See what it says: warpwright doctor");
  model::Task task;
  task.name = name;
  task.file = file;
  task.module = module;
  task.reference.steps.push_back(model::ModuleStep{});
  task.buffers = std::move(buffers);
  const bool writes = std::ranges::any_of(
      task.buffers, [](const Buffer &buffer) { return buffer.direction == Direction::Out; });
  if (!writes)
    return fail("the module gives no tensor", "Its forward must return one");
  task.tolerance = model::default_tolerance(task.buffers);
  task.work.bytes = least_bytes(graph, task.buffers);
  return task;
}

Result<elements::DeviceFacts> facts_of(const model::DeviceInfo &device) {
  auto gpu = arch::gpu_of(device);
  if (!gpu)
    return std::unexpected(gpu.error());
  return elements::DeviceFacts{std::move(*gpu)};
}

} // namespace warpwright::planning
