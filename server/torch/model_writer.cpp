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

std::string load_inline_call(const model::Plan &plan, const Extension &extension, int capability) {
  const std::string architecture = std::to_string(capability) + (capability >= 90 ? "a" : "");
  return "_warpwright = _warpwright_load_inline(\n"
         "    name=\"warpwright_" +
         model::hash(plan).substr(0, 16) +
         "\",\n"
         "    cpp_sources=\"" +
         extension.declaration +
         "\",\n"
         "    cuda_sources=_WARPWRIGHT_SOURCE,\n"
         "    functions=[\"" +
         kExtensionFunction +
         "\"],\n"
         "    extra_cuda_cflags=[\"-O3\", \"-std=c++17\", \"-gencode=arch=compute_" +
         architecture + ",code=sm_" + architecture + "\"],\n)\n";
}

std::string class_text(const model::Task &task, const std::string &state, const ModelText &text,
                       std::size_t outputs) {
  const bool several = std::ranges::count(state, ',') > 0;
  const std::string own = state.empty() ? ""
                          : several     ? ", *self._warpwright_state(self)"
                                        : ", self._warpwright_state(self)";
  std::string lines = "class " + text.class_name + "(" + task.module->model + "):\n";
  if (!state.empty())
    lines += "    _warpwright_state = staticmethod(_warpwright_attrgetter(" + state + "))\n\n";
  lines += "    def forward(self, *inputs):\n"
           "        if self.training is " +
           std::string(task.module->training ? "True" : "False") +
           " and all(isinstance(value, torch.Tensor) for value in inputs):\n"
           "            tensors = [*inputs" +
           own +
           "]\n"
           "            if not (torch.is_grad_enabled() and any(tensor.requires_grad for tensor in "
           "tensors)):\n"
           "                outputs = _warpwright." +
           kExtensionFunction +
           "(tensors)\n"
           "                if outputs:\n"
           "                    return " +
           (outputs == 1 ? "outputs[0]" : "tuple(outputs)") +
           "\n"
           "        return super().forward(*inputs)\n";
  return lines;
}

} // namespace

Result<std::string> write_model(const model::Task &task, const model::Graph &graph,
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
  const std::string &original = task.module->source;
  return original + (original.ends_with('\n') ? "" : "\n") +
         "\n\nimport torch\n"
         "from operator import attrgetter as _warpwright_attrgetter\n"
         "from torch.utils.cpp_extension import load_inline as _warpwright_load_inline\n\n"
         "_WARPWRIGHT_SOURCE = " +
         *source + "\n\n" + load_inline_call(plan, *extension, text.compute_capability) + "\n\n" +
         commented(text.comment) +
         class_text(task, state_list(task, state_of(graph)), text, outputs);
}

} // namespace warpwright::server
