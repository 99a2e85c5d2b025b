#include "server/torch/torch_task.h"

#include "generator/graph/verify_graph.h"
#include "support/model/tolerance.h"

#include <algorithm>
#include <set>

namespace warpwright::server {
namespace {

using model::Buffer;
using model::Direction;

/// Ops that may leave elements of their first input unread.
const std::set<std::string> kSelective = {
    "slice", "gather", "index_select", "embedding",       "diagonal", "pad",      "triu", "tril",
    "aten",  "item",   "scatter_add",  "where",           "max_pool", "avg_pool", "conv", "mul",
    "div",   "matmul", "attention",    "upsample_nearest"};

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

Result<TorchTask> make_torch_task(const std::string &name, const std::string &file,
                                  const model::TorchModule &module, runner::TracedModule traced) {
  if (const auto good = generator::verify_graph(traced.graph); !good)
    return fail("the runner's graph of the module is not well formed: " + good.error().message,
                "Is the runner of the same version? See what it says: warpwright doctor");
  TorchTask made{.graph = std::move(traced.graph),
                 .patterns = {traced.input_pattern, traced.output_pattern}};
  made.task.name = name;
  made.task.file = file;
  made.task.module = module;
  made.task.reference.steps.push_back(model::ModuleStep{});
  made.task.buffers = std::move(traced.buffers);
  const bool writes = std::ranges::any_of(
      made.task.buffers, [](const Buffer &buffer) { return buffer.direction == Direction::Out; });
  if (!writes)
    return fail("the module gives no tensor", "Its forward must return one");
  made.task.tolerance = model::default_tolerance(made.task.buffers);
  made.task.work.bytes = least_bytes(made.graph, made.task.buffers);
  return made;
}

} // namespace warpwright::server
