// `torch_cpp_dump FILE`: what the text of a C++ file says of its torch functions and modules, as JSON by name.
#include "generator/torch_cpp/kernels.h"
#include "support/model/graph_json.h"

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

int main(int argc, char **argv) {
  using namespace warpwright;
  std::ifstream file(argc > 1 ? argv[1] : "");
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    std::cerr << "usage: torch_cpp_dump FILE\n";
    return 2;
  }
  analysis::FileFacts facts;
  generator::add_torch_functions({argv[1], text.str()}, {}, facts);
  nlohmann::json found = nlohmann::json::object();
  for (const analysis::Kernel &kernel : facts.kernels) {
    const model::TorchModule &module = *kernel.task.task.module;
    nlohmann::json &one = found[module.model];
    one["inputs"] = module.inputs;
    one["init_inputs"] = module.init_inputs;
    one["mode"] = model::name(module.mode);
    if (kernel.forward)
      one["state"] = kernel.forward->state;
    if (kernel.task.graph)
      one["graph"] = model::to_json(*kernel.task.graph);
    for (const std::string &assumption : kernel.task.assumptions)
      one["notes"].push_back(assumption);
    for (const analysis::MissingFact &fact : kernel.task.missing)
      one["missing"].push_back(fact.name);
  }
  std::cout << found.dump() << '\n';
}
