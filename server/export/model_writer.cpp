#include "server/export/model_writer.h"
#include "server/export/runtime_text.h"

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

std::string include_of(const NamedText &header) {
  return "#include <warpwright/" + std::string(header.name) + ">\n";
}

/// The names that a module's addition brings into the user's file, unique by the class.
struct Names {
  explicit Names(const std::string &model) : call("_warpwright_" + model) {}
  std::string call; ///< the function that runs the kernels; the others begin with it
  std::string source() const { return call + "_source"; }
  std::string plan() const { return call + "_plan"; }
  std::string exported() const { return call + "_exported"; }
};

/// The function that gives the package, or what stands in for it: the user's own forward.
const std::string kPackageLoader = "def " + std::string(kLoader) + R"python(():
    try:
        import warpwright_runtime
        return warpwright_runtime
    except ImportError:
        import types
        import warnings

        why = "the package warpwright-runtime is not installed (run: warpwright install-runtime)"
        calls = globals().setdefault("_warpwright_calls", {})

        class OwnForward:
            def __init__(self, plan, owner):
                warnings.warn(f"{plan['name']}: the verified kernels are not used, its own forward runs: {why}", RuntimeWarning)

            def outputs_of(self, module, inputs):
                calls[why] = calls.get(why, 0) + 1

            def forward_of(self, original):
                def forward(self, *inputs, **keywords):
                    calls[why] = calls.get(why, 0) + 1
                    return original(self, *inputs, **keywords)

                return forward

        return types.SimpleNamespace(ExportedPlan=OwnForward, fallbacks_of=lambda owner: lambda: dict(calls))
)python";

/// The function that makes the package of the texts that it holds: one for all modules of a process that bring the same.
Result<std::string> standalone_loader() {
  std::string modules, all = runtime_extension();
  for (const NamedText &part : runtime_modules()) {
    const auto text = raw_string(std::string(part.text));
    if (!text)
      return text;
    modules += "            (\"" + std::string(part.name.substr(0, part.name.find('.'))) + "\", " + *text + "),\n";
    all += part.text;
  }
  const auto extension = raw_string(runtime_extension());
  if (!extension)
    return extension;
  return "def " + std::string(kLoader) + R"python(():
    import sys
    import types

    name = "_warpwright_runtime_)python" +
         sha256_hex(all).substr(0, 16) + R"python("
    if name not in sys.modules:
        package = types.ModuleType(name)
        vars(package)["__path__"] = []  # a package, whose parts are made here
        sys.modules[name] = package
        for part, text in (
)python" + modules +
         R"python(        ):
            module = types.ModuleType(f"{name}.{part}")
            vars(module).update(__package__=name, __file__=module.__name__)
            exec(compile(text, module.__name__, "exec"), vars(module))
            sys.modules[module.__name__] = vars(package)[part] = module
            if part == "extension":
                vars(module)["SOURCE"] = )python" +
         *extension + R"python(
    return sys.modules[name + ".exported_plan"]
)python";
}

/// A plan's source with includes in place of the package's device headers.
std::string with_includes(std::string source) {
  for (const NamedText &header : device_headers())
    source = replaced(std::move(source), header.text, include_of(header));
  return source;
}

} // namespace

Result<ModelAddition> write_addition(const model::Task &task, const model::Graph &graph,
                                     const model::Plan &plan, const ModelText &text) {
  if (!task.module || task.module->language != "python")
    return fail("the task is no Python module", "Only those can be written as a ModelNew");
  if (text.patterns.guards.empty())
    return fail("the runner does not say what forward was traced with", "Use a runner of this version");
  const Names names(task.module->model);
  auto source = raw_string(plan.source.empty() ? "\n" : with_includes(plan.source));
  auto literal =
      plan_literal(task, graph, plan, text.patterns, names.source(), text.device);
  for (const auto *part : {&source, &literal})
    if (!*part)
      return std::unexpected(part->error());
  ModelAddition addition;
  addition.call = names.call;
  addition.kernels = commented(text.comment) + names.source() + " = " + *source + "\n\n" +
                     names.plan() + " = " + *literal + "\n\n" + kPackageLoader + "\n\n" +
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

Result<std::string> standalone_text(std::string text) {
  const auto loader = standalone_loader();
  const std::size_t at = text.find(kPackageLoader);
  if (!loader || at == std::string::npos)
    return loader ? text : loader;
  for (const NamedText &header : device_headers())
    text = replaced(std::move(text), include_of(header), header.text);
  text.replace(text.find(kPackageLoader), kPackageLoader.size(), *loader);
  return text;
}

} // namespace warpwright::server
