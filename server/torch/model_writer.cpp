#include "server/torch/model_writer.h"
#include "server/torch/runtime_text.h"

#include "support/hash.h"

namespace warpwright::server {
namespace {

constexpr const char *kLoader = "_warpwright_load";

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

/// The names that a module's addition brings into the user's file, unique by the class.
struct Names {
  explicit Names(const std::string &model) : call("_warpwright_" + model) {}
  std::string call; ///< the function that runs the kernels; the others begin with it
  std::string source() const { return call + "_source"; }
  std::string plan() const { return call + "_plan"; }
  std::string exported() const { return call + "_exported"; }
};

/// One for all modules of a process that bring the same text.
Result<std::string> runtime_loader() {
  auto python = raw_string(kRuntimePython), cpp = raw_string(kRuntimeCpp);
  for (const auto *part : {&python, &cpp})
    if (!*part)
      return std::unexpected(part->error());
  const std::string name =
      "_warpwright_runtime_" + sha256_hex(std::string(kRuntimePython) + kRuntimeCpp).substr(0, 16);
  return "def " + std::string(kLoader) +
         "():\n"
         "    import sys\n"
         "    import types\n\n"
         "    if \"" +
         name +
         "\" not in sys.modules:\n"
         "        module = types.ModuleType(\"" +
         name +
         "\")\n"
         // A type checker knows no such attribute of a module.
         "        vars(module)[\"EXTENSION\"] = " +
         *cpp +
         "\n"
         "        exec(compile(" +
         *python + ", \"" + name +
         "\", \"exec\"), module.__dict__)\n"
         "        sys.modules[\"" +
         name +
         "\"] = module\n"
         "    return sys.modules[\"" +
         name + "\"]\n";
}

} // namespace

Result<ModelAddition> write_addition(const model::Task &task, const model::Graph &graph,
                                     const model::Plan &plan, const ModelText &text) {
  if (!task.module || task.module->language != "python")
    return fail("the task is no Python module", "Only those can be written as a ModelNew");
  if (text.patterns.guards.empty())
    return fail("the runner does not say what forward was traced with", "Use a runner of this version");
  const Names names(task.module->model);
  auto source = raw_string(plan.source.empty() ? "\n" : plan.source);
  auto literal =
      plan_literal(task, graph, plan, text.patterns, names.source(), text.device);
  auto loader = runtime_loader();
  for (const auto *part : {&source, &literal, &loader})
    if (!*part)
      return std::unexpected(part->error());
  ModelAddition addition;
  addition.call = names.call;
  addition.kernels = commented(text.comment) + names.source() + " = " + *source + "\n\n" +
                     names.plan() + " = " + *literal + "\n\n" + *loader + "\n\n" +
                     names.exported() + " = " + kLoader + "().ExportedPlan(" + names.plan() +
                     ", __name__)\nwarpwright_fallbacks = " + kLoader +
                     "().fallbacks_of(__name__)  # (): {why: calls that your own forward answered}\n" +
                     names.call + " = " + names.exported() +
                     ".outputs_of  # (module, inputs): None where they are not as verified\n";
  addition.subclass = "class " + text.class_name + "(" + task.module->model +
                      "):\n"
                      "    forward = " +
                      names.exported() + ".forward_of(" + task.module->model + ".forward)\n";
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
