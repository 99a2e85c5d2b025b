#include "generator/torch_cpp/graph_leaves.h"

#include <algorithm>

namespace warpwright::generator::torch_cpp {

GraphLeaves::GraphLeaves(GraphWriter &writer, const std::vector<Input> &inputs) : writer_(writer) {
  for (const Input &input : inputs) {
    if (!input.is_tensor) {
      arguments_.push_back(input.value);
      continue;
    }
    const std::string name = writer.leaf("input", input.name, input.type);
    leaves_.emplace_back(name, Tensor(new Tracked{name}));
    arguments_.emplace_back(leaves_.back().second);
  }
}

void GraphLeaves::add_state(const std::string &torch_name, const Tensor &tensor) {
  const bool is_known = std::ranges::any_of(
      leaves_, [&](const auto &leaf) { return leaf.second.get() == tensor.get(); });
  if (is_known)
    return;
  const std::string before = tensor->read();
  const std::string name =
      writer_.leaf("parameter", torch_name, {writer_.dtype(before), writer_.shape(before), {}});
  tensor->base = nullptr;
  tensor->node = name;
  ++tensor->version; // views of it are read anew
  leaves_.emplace_back(name, tensor);
}

model::Buffer GraphLeaves::buffer(const std::string &name, const std::string &torch_name,
                                  const std::string &node, model::Direction direction) const {
  return {.name = name,
          .dtype = writer_.dtype(node),
          .extent = Expression(writer_.elements(node)),
          .direction = direction,
          .distribution = {.kind = model::Distribution::Kind::Module},
          .shape = writer_.shape(node),
          .torch_name = torch_name};
}

FunctionGraph GraphLeaves::finished(const analysis::ParsedUnit &unit,
                                    const clang::FunctionDecl &function,
                                    const Interpreter &interpreter, const Value &returned) const {
  FunctionGraph result;
  result.refusal = interpreter.refusal();
  if (result.refusal)
    return result;
  const auto refuse = [&](const std::string &why, std::size_t line = 0) {
    result.refusal =
        Refusal{why, line ? line : unit.sources().getExpansionLineNumber(function.getLocation())};
    return result;
  };
  const List values = returned.as<List>() ? *returned.as<List>() : List{returned};
  std::vector<std::string> outputs;
  for (const Value &value : values) {
    if (const auto *unknown = value.as<Unknown>())
      return refuse(unknown->why, unknown->line);
    if (const auto *tensor = value.as<Tensor>())
      outputs.push_back((*tensor)->read());
    else if (!value.as<None>())
      return refuse("the function returns something that is no tensor");
  }
  if (outputs.empty())
    return refuse("the function returns no tensor");
  std::vector<model::Update> updates;
  for (const auto &[name, tensor] : leaves_) {
    const std::string now = tensor->read();
    if (now != name)
      updates.push_back({name, now});
    const auto *torch_name =
        std::get_if<std::string>(&writer_.node(name).attributes.at("torch_name"));
    result.buffers.push_back(buffer(name, torch_name ? *torch_name : name, name,
                                    now != name ? model::Direction::InOut : model::Direction::In));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = outputs.size() == 1 ? "output" : "output_" + std::to_string(i);
    result.buffers.push_back(buffer(name, name, outputs[i], model::Direction::Out));
  }
  result.graph = writer_.graph(std::move(outputs), std::move(updates));
  const bool is_random = std::ranges::any_of(
      result.graph.nodes, [&](const model::Node &node) { return interpreter.drawn(node.name); });
  if (is_random)
    return refuse("forward uses a tensor that the constructor draws at random and does not "
                  "register");
  return result;
}

} // namespace warpwright::generator::torch_cpp
