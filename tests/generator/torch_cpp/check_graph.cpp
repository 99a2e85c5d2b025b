#include "tests/generator/torch_cpp/check_graph.h"

#include "generator/ops/text.h"
#include "generator/ops/verify_graph.h"
#include "generator/torch_cpp/module_classes.h"

#include <doctest/doctest.h>
#include <sstream>

namespace warpwright::generator {
namespace {

std::string trimmed(const std::string &line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : line.substr(begin);
}

std::string missing_of(const torch_cpp::Inputs &inputs) {
  std::string names;
  for (const auto &fact : inputs.missing)
    names += (names.empty() ? "" : ", ") + fact.name;
  return "missing: " + names;
}

std::string text_of(const torch_cpp::FunctionGraph &made) {
  if (made.refusal)
    return "refused, line " + std::to_string(made.refusal->line - 2) + ": " + made.refusal->message;
  if (auto good = verify_graph(made.graph); !good)
    return "not well formed: " + good.error().message;
  return print_graph(made.graph);
}

/// The graph, and what stands in the way of another body.
std::string module_text(const analysis::ParsedUnit &unit, const torch_cpp::ModuleClass &module) {
  const torch_cpp::ModuleInputs inputs = torch_cpp::inputs_of(unit, module);
  if (!inputs.call.missing.empty())
    return missing_of(inputs.call);
  auto forward = torch_cpp::forward_facts(unit, module, inputs);
  if (!forward)
    return "made by a macro";
  const std::string text = text_of(torch_cpp::graph_of(unit, module, inputs, *forward));
  return text + (forward->obstacle.empty() ? "" : "obstacle: " + forward->obstacle + "\n");
}

} // namespace

std::string graph_text(const std::string &snippet) {
  auto unit =
      analysis::parse_stub({"/snippet.cpp", "#include <torch/torch.h>\n#line 1\n" + snippet});
  if (!unit)
    return "not parsed: " + unit.error().message;
  const auto functions = torch_cpp::torch_functions(**unit);
  const auto modules = torch_cpp::torch_modules(**unit);
  if (functions.empty() && modules.size() == 1)
    return module_text(**unit, modules.front());
  if (!modules.empty())
    return std::to_string(modules.size()) + " modules";
  if (functions.size() != 1)
    return std::to_string(functions.size()) + " functions";
  const torch_cpp::Inputs inputs = torch_cpp::inputs_of(**unit, *functions.front());
  if (!inputs.missing.empty())
    return missing_of(inputs);
  return text_of(torch_cpp::graph_of(**unit, *functions.front(), inputs.inputs));
}

void check_body(const std::string &snippet, const std::string &expected) {
  std::istringstream text(graph_text(snippet)), wanted(expected);
  std::string line, body, wanted_body;
  while (std::getline(text, line))
    if (line.find(" = input {") == std::string::npos &&
        line.find(" = parameter {") == std::string::npos && !line.starts_with("return"))
      body += line + "\n";
  while (std::getline(wanted, line))
    if (!trimmed(line).empty())
      wanted_body += trimmed(line) + "\n";
  INFO(snippet);
  CHECK(body == wanted_body);
}

void check_refused(const std::string &snippet, const std::string &part_of_reason) {
  const std::string text = graph_text(snippet);
  INFO(text);
  CHECK(text.starts_with("refused"));
  CHECK(text.find(part_of_reason) != std::string::npos);
}

} // namespace warpwright::generator
