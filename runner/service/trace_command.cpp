// `trace FILE`: asks a runner for the op graph of a torch module and the buffers of its task.
#include "runner/connect/connect.h"
#include "runner/service/commands.h"
#include "support/model/graph_json.h"
#include "support/model/json.h"

#include <fstream>
#include <iostream>
#include <iterator>

namespace warpwright::runner {
namespace {

using nlohmann::json;

Result<TracedModule> ask(const TraceCommand &command) {
  std::ifstream file(command.path, std::ios::binary);
  if (!file)
    return fail("cannot read " + command.path);
  model::TorchModule module;
  module.source.assign(std::istreambuf_iterator<char>(file), {});
  module.model = command.model;
  module.inputs = command.inputs;
  module.init_inputs = command.init_inputs;
  module.mode = command.evaluation ? model::ModuleMode::Eval : model::ModuleMode::AsMade;
  auto client = TRY(BlockingClient::connect(command.url));
  return client->trace(module);
}

void print(const TracedModule &traced) {
  for (const model::Buffer &buffer : traced.buffers) {
    const char *direction = buffer.direction == model::Direction::In    ? "in   "
                            : buffer.direction == model::Direction::Out ? "out  "
                                                                        : "inout";
    std::cout << direction << " " << buffer.name << ": " << model::name(buffer.dtype)
              << json(buffer.shape).dump() << "\n";
  }
  for (const model::Node &node : traced.graph.nodes) {
    std::cout << "%" << node.name << " = " << node.op << "(";
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      std::cout << (i ? ", %" : "%") << node.inputs[i];
    std::cout << "): " << model::name(node.type().dtype) << json(node.type().shape).dump() << "\n";
  }
}

} // namespace

int run_trace(const TraceCommand &command) {
  const auto traced = ask(command);
  if (!traced) {
    std::cerr << command.path << ": " << describe(traced.error()) << std::endl;
    return 2;
  }
  if (command.json_path.empty())
    print(*traced);
  else {
    json buffers = json::array();
    for (const model::Buffer &buffer : traced->buffers)
      buffers.push_back({{"name", buffer.name},
                         {"torch_name", buffer.torch_name},
                         {"dtype", model::name(buffer.dtype)},
                         {"shape", buffer.shape},
                         {"direction", buffer.direction == model::Direction::In    ? "in"
                                       : buffer.direction == model::Direction::Out ? "out"
                                                                                   : "inout"}});
    const json document = {{"graph", model::to_json(traced->graph)}, {"buffers", buffers}};
    if (command.json_path == "-")
      std::cout << document.dump(1) << "\n";
    else if (!(std::ofstream(command.json_path) << document.dump(1) << "\n")) {
      std::cerr << "cannot write " << command.json_path << std::endl;
      return 2;
    }
  }
  return 0;
}

} // namespace warpwright::runner
