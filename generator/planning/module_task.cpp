#include "generator/planning/module_task.h"

#include "generator/ops/verify_graph.h"
#include "support/model/tolerance.h"

#include <algorithm>
#include <set>

namespace warpwright::generator {
namespace {

using model::Buffer;
using model::Direction;

/// Ops that may leave elements of their first input unread.
const std::set<std::string> kSelective = {
    "slice", "gather", "index_select", "embedding",       "diagonal", "pad",      "triu", "tril",
    "aten",  "item",   "scatter_add",  "where",           "max_pool", "avg_pool", "conv", "mul",
    "div",   "matmul", "attention",    "upsample_nearest"};

/// Shared memory that a block may ask for (CUDA programming guide, technical specifications by compute capability). A capability that is
/// not known gets the least that any has.
int shared_bytes_of(int capability) {
  switch (capability) {
  case 70:
  case 72:
    return 96 * 1024;
  case 80:
  case 87:
    return 163 * 1024;
  case 86:
  case 89:
  case 120:
  case 121:
    return 99 * 1024;
  case 90:
  case 100:
  case 101:
  case 103:
  case 110:
    return 227 * 1024;
  default:
    return 64 * 1024;
  }
}

} // namespace

std::int64_t least_bytes(const model::Graph &graph, const std::vector<Buffer> &buffers) {
  std::set<std::string> read; // by an op that takes every element
  for (const model::Node &node : graph.nodes)
    if (!kSelective.contains(node.op))
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
  if (const auto good = verify_graph(graph); !good)
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

DeviceFacts facts_of(const model::DeviceInfo &device) {
  DeviceFacts facts;
  if (device.kind != "cuda") {
    facts.inline_ptx = false;
    return facts;
  }
  if (const int capability = model::capability_of(device)) {
    facts.compute_capability = capability;
    facts.shared_bytes_a_block = shared_bytes_of(capability);
  }
  if (device.multiprocessors > 0)
    facts.multiprocessors = device.multiprocessors;
  return facts;
}

} // namespace warpwright::generator
