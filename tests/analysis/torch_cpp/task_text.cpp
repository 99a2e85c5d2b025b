#include "tests/analysis/torch_cpp/task_text.h"

#include "analysis/torch_cpp/kernels.h"

namespace warpwright::analysis {
namespace {

std::string text_of(const Kernel &kernel) {
  std::string text = kernel.name + " ";
  for (const MissingFact &fact : kernel.task.missing)
    text += (text.ends_with(" ") ? "missing: " : ", ") + fact.name;
  if (kernel.task.inferred)
    text += kernel.task.task.module->inputs;
  if (kernel.task.inferred && kernel.forward)
    text += " made with " + kernel.task.task.module->init_inputs;
  if (kernel.forward && !kernel.forward->obstacle.empty())
    text += ", obstacle: " + kernel.forward->obstacle;
  return text + "\n";
}

} // namespace

FileFacts torch_facts(const std::string &snippet) {
  FileFacts facts;
  add_torch_functions({"/snippet.cpp", "#include <torch/torch.h>\n" + snippet}, {}, facts);
  return facts;
}

std::string task_text(const std::string &snippet) {
  std::string text;
  for (const Kernel &kernel : torch_facts(snippet).kernels)
    text += text_of(kernel);
  return text;
}

} // namespace warpwright::analysis
