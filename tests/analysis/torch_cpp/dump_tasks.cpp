// `torch_cpp_dump FILE`: the torch tasks of a C++ file, as JSON by name.
#include "analysis/torch_cpp/kernels.h"

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
  analysis::add_torch_functions({argv[1], text.str()}, {}, facts);
  nlohmann::json found = nlohmann::json::object();
  for (const analysis::Kernel &kernel : facts.kernels) {
    const model::TorchModule &module = *kernel.task.task.module;
    nlohmann::json &one = found[module.model];
    one["inputs"] = module.inputs;
    one["init_inputs"] = module.init_inputs;
    one["mode"] = model::name(module.mode);
    for (const analysis::MissingFact &fact : kernel.task.missing)
      one["missing"].push_back(fact.name);
  }
  std::cout << found.dump() << '\n';
}
