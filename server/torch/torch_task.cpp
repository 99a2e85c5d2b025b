#include "server/torch/torch_task.h"

#include "support/model/graph_json.h"

#include <algorithm>
#include <set>

namespace warpwright::server {
namespace {

using model::Buffer;
using model::Direction;
using nlohmann::json;

/// Ops that may leave elements of their first input unread.
const std::set<std::string> kSelective = {
    "slice", "gather", "index_select", "embedding",       "diagonal", "pad",      "triu", "tril",
    "aten",  "item",   "scatter_add",  "where",           "max_pool", "avg_pool", "conv", "mul",
    "div",   "matmul", "attention",    "upsample_nearest"};

Result<Direction> direction_from(const std::string &text) {
  if (text == "in")
    return Direction::In;
  if (text == "out")
    return Direction::Out;
  if (text == "inout")
    return Direction::InOut;
  return fail("the trace gives a buffer the direction \"" + text + "\"");
}

Result<Buffer> buffer_from(const json &entry) {
  Buffer buffer;
  buffer.name = entry.at("name").get<std::string>();
  buffer.torch_name = entry.value("torch_name", buffer.name);
  const auto dtype = model::dtype_from_name(entry.at("dtype").get<std::string>());
  if (!dtype)
    return fail("the tensor " + buffer.torch_name + " has the dtype " +
                    entry.at("dtype").get<std::string>() + ", which plans do not have",
                "Cast it in the module's inputs");
  buffer.dtype = *dtype;
  buffer.shape = entry.at("shape").get<model::Shape>();
  buffer.extent = model::elements_of(buffer.shape);
  const auto direction = direction_from(entry.at("direction").get<std::string>());
  if (!direction)
    return std::unexpected(direction.error());
  buffer.direction = *direction;
  if (*direction != Direction::Out)
    buffer.distribution.kind = model::Distribution::Kind::Module;
  return buffer;
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

Result<TorchTask> make_torch_task(const std::string &name, const std::string &file,
                                  const model::TorchModule &module, const json &trace) try {
  auto graph = model::graph_from_json(trace.at("graph"));
  if (!graph)
    return std::unexpected(graph.error());
  TorchTask made{.graph = std::move(*graph)};
  made.task.name = name;
  made.task.file = file;
  made.task.module = module;
  made.task.reference.steps.push_back(model::ModuleStep{});
  for (const json &entry : trace.at("buffers")) {
    auto buffer = buffer_from(entry);
    if (!buffer)
      return std::unexpected(buffer.error());
    made.task.buffers.push_back(std::move(*buffer));
  }
  const bool writes = std::ranges::any_of(
      made.task.buffers, [](const Buffer &buffer) { return buffer.direction == Direction::Out; });
  if (!writes)
    return fail("the module gives no tensor", "Its forward must return one");
  made.task.work.bytes = least_bytes(made.graph, made.task.buffers);
  return made;
} catch (const json::exception &error) {
  return fail(std::string("the trace is not of the form that this version knows: ") + error.what(),
              "Use a runner of the same version");
}

} // namespace warpwright::server
