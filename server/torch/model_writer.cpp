#include "server/torch/model_writer.h"
#include "server/torch/extension_writer.h"

#include "support/model/json.h"

#include <algorithm>
#include <set>

namespace warpwright::server {
namespace {

using model::Buffer;
using model::Direction;

/// As the text of a Python raw string in triple quotes; nullopt where it cannot be one.
Result<std::string> raw_string(const std::string &text) {
  if (text.find("'''") != std::string::npos || text.ends_with('\''))
    return fail(
        "the kernels' text holds three quotes in a row, which no raw string of Python takes");
  return "r'''" + text + "'''";
}

std::string commented(const std::string &text) {
  std::string result;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    result += "# " + text.substr(start, end - start) + "\n";
    start = end + 1;
  }
  return result;
}

/// `"bias", "net.0.weight"`: the module's own tensors that the plan reads or writes, as operator.attrgetter takes them.
std::string state_list(const model::Task &task, const std::set<std::string> &state) {
  std::string names;
  for (const Buffer &buffer : task.buffers)
    if (buffer.direction != Direction::Out && state.contains(buffer.name))
      names += (names.empty() ? "\"" : ", \"") + buffer.torch_name + "\"";
  return names;
}

std::set<std::string> state_of(const model::Graph &graph) {
  std::set<std::string> state;
  for (const model::Node &node : graph.nodes)
    if (node.op == "parameter")
      state.insert(node.name);
  return state;
}

/// The names that a module's addition brings into the user's file, unique by the class.
struct Names {
  explicit Names(const std::string &model) : call("_warpwright_" + model) {}
  std::string call; ///< the function that runs the kernels; the others begin with it
  std::string source() const { return call + "_source"; }
  std::string build() const { return call + "_build"; }
  std::string extension() const { return call + "_extension"; }
  std::string state() const { return call + "_state"; }
};

/// Builds at import where this GPU is the one that the plan was verified for; elsewhere the user's own forward runs.
std::string build_text(const Names &names, const model::Plan &plan, const Extension &extension,
                       int capability) {
  std::string flags = "\"-O3\", \"-std=c++17\"", condition = "torch.cuda.is_available()";
  if (capability > 0) {
    const std::string architecture = std::to_string(capability) + (capability >= 90 ? "a" : "");
    flags += ", \"-gencode=arch=compute_" + architecture + ",code=sm_" + architecture + "\"";
    condition += " and torch.cuda.get_device_capability() == (" + std::to_string(capability / 10) +
                 ", " + std::to_string(capability % 10) + ")";
  }
  return "def " + names.build() +
         "():\n"
         "    from torch.utils.cpp_extension import load_inline\n"
         "    return load_inline(\n"
         "        name=\"warpwright_" +
         model::hash(plan).substr(0, 16) +
         "\",\n"
         "        cpp_sources=\"" +
         extension.declaration +
         "\",\n"
         "        cuda_sources=" +
         names.source() +
         ",\n"
         "        functions=[\"" +
         kExtensionFunction +
         "\"],\n"
         "        extra_cuda_cflags=[" +
         flags + "],\n    )\n\n\n" + names.extension() + " = " + names.build() + "() if " +
         condition + " else None\n";
}

std::string call_text(const Names &names, const model::Task &task, const std::string &state,
                      std::size_t outputs) {
  const bool several = std::ranges::count(state, ',') > 0;
  const std::string own =
      state.empty() ? "" : ", " + std::string(several ? "*" : "") + names.state() + "(module)";
  std::string lines;
  if (!state.empty())
    lines = names.state() + " = _warpwright_attrgetter(" + state + ")\n";
  return lines + "\n\ndef " + names.call +
         "(module, inputs):\n"
         "    \"\"\"What the verified kernels give; None for calls that they were not verified "
         "for.\"\"\"\n"
         "    if " +
         names.extension() + " is None or module.training is not " +
         (task.module->training ? "True" : "False") +
         ":\n"
         "        return None\n"
         "    if not all(isinstance(value, torch.Tensor) for value in inputs):\n"
         "        return None\n"
         "    tensors = [*inputs" +
         own +
         "]\n"
         "    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):\n"
         "        return None\n"
         "    outputs = " +
         names.extension() + "." + kExtensionFunction +
         "(tensors)\n"
         "    if not outputs:\n"
         "        return None\n"
         "    return " +
         (outputs == 1 ? "outputs[0]" : "tuple(outputs)") + "\n";
}

std::string class_text(const model::Task &task, const Names &names, const ModelText &text) {
  return "class " + text.class_name + "(" + task.module->model +
         "):\n"
         "    def forward(self, *inputs):\n"
         "        outputs = " +
         names.call +
         "(self, inputs)\n"
         "        return super().forward(*inputs) if outputs is None else outputs\n";
}

} // namespace

Result<ModelAddition> write_addition(const model::Task &task, const model::Graph &graph,
                                     const model::Plan &plan, const ModelText &text) {
  if (!task.module || task.module->language != "python")
    return fail("the task is no Python module", "Only those can be written as a ModelNew");
  auto extension = write_extension(task, plan);
  if (!extension)
    return std::unexpected(extension.error());
  auto source = raw_string(extension->source);
  if (!source)
    return std::unexpected(source.error());
  const auto outputs = static_cast<std::size_t>(std::ranges::count_if(
      task.buffers, [](const Buffer &buffer) { return buffer.direction == Direction::Out; }));
  const std::string state = state_list(task, state_of(graph));
  const Names names(task.module->model);
  ModelAddition addition;
  addition.call = names.call;
  addition.kernels =
      commented(text.comment) + "import torch\n" +
      (state.empty() ? "" : "from operator import attrgetter as _warpwright_attrgetter\n") + "\n" +
      names.source() + " = " + *source + "\n\n\n" +
      build_text(names, plan, *extension, text.compute_capability) +
      call_text(names, task, state, outputs);
  addition.subclass = class_text(task, names, text);
  return addition;
}

Result<std::string> write_model(const model::Task &task, const model::Graph &graph,
                                const model::Plan &plan, const ModelText &text) {
  const auto addition = write_addition(task, graph, plan, text);
  if (!addition)
    return std::unexpected(addition.error());
  const std::string &original = task.module->source;
  return original + (original.ends_with('\n') ? "" : "\n") + "\n\n" + addition->kernels + "\n\n" +
         addition->subclass;
}

} // namespace warpwright::server
