// A task for a graph that no module was traced to: buffers by the names of leaves, and outputs. Thread: any.
#pragma once

#include "generator/planning/plan_builder.h"

namespace warpwright::test {

inline model::Task task_of(const model::Graph &graph) {
  model::Task task;
  task.name = "Model";
  const planning::PlanBuffers buffers = planning::plan_buffers(graph);
  const ops::GraphIndex index(graph);
  const auto add = [&](const std::string &name, const model::TensorType &type,
                       model::Direction direction) {
    model::Buffer buffer;
    buffer.name = name;
    buffer.dtype = type.dtype;
    buffer.shape = type.shape;
    buffer.extent = symbolic::Expression(model::elements_of(type.shape));
    buffer.direction = direction;
    buffer.distribution.kind = model::Distribution::Kind::Module;
    task.buffers.push_back(buffer);
  };
  for (const auto &node : graph.nodes)
    if (buffers.leaves.contains(node.name))
      add(node.name, node.type(), model::Direction::In);
  for (std::size_t i = 0; i < buffers.outputs.size(); ++i)
    add(buffers.outputs[i], index.node(graph.outputs[i]).type(), model::Direction::Out);
  task.module = model::TorchModule{.source = "class Model: pass\n"};
  task.reference.steps.push_back(model::ModuleStep{});
  return task;
}

} // namespace warpwright::test
