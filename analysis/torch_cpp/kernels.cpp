#include "analysis/torch_cpp/kernels.h"

#include "analysis/torch_cpp/cut.h"
#include "analysis/torch_cpp/module_classes.h"
#include "analysis/torch_cpp/own_headers.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

using namespace torch_cpp;

bool speaks_of_tensors(const std::string &text) {
  return text.contains("Tensor") &&
         (text.contains("torch") || text.contains("at::") || text.contains("ATen"));
}

/// "Warpwright's variant 0123456789abcdef of NAME."; empty if the text contains none.
std::string applied_variant(std::string_view text, const std::string &name) {
  const std::string_view mark = "Warpwright's variant ";
  const std::size_t end = text.find(" of " + name + ". ");
  const std::size_t begin = end == std::string_view::npos ? end : text.substr(0, end).rfind(mark);
  return begin == std::string_view::npos
             ? ""
             : std::string(text.substr(begin, end - begin)) + " of " + name + ".";
}

/// The common part of functions and modules.
/// @param called the function, or the module's forward
std::optional<Kernel> kernel_of(const ParsedUnit &unit, const clang::NamedDecl &declaration,
                                const clang::FunctionDecl &called, Inputs inputs) {
  const auto whole = unit.range_of(declaration.getSourceRange());
  const auto name = unit.range_of(clang::SourceRange(declaration.getLocation()));
  const auto body = unit.range_of(called.getBody()->getSourceRange());
  if (!whole || !name || !body)
    return std::nullopt; // produced by a macro
  Kernel kernel;
  kernel.name = declaration.getNameAsString();
  kernel.range = *whole;
  kernel.name_range = *name;
  kernel.body_range = *body;
  kernel.line = unit.line_index().line_of(name->begin) + 1;
  for (const clang::ParmVarDecl *parameter : called.parameters())
    kernel.parameters.push_back({.name = parameter->getNameAsString(),
                                 .type = std::string(unit.text_of(parameter->getSourceRange()))});
  InferredTask &task = kernel.task;
  task.inferred = inputs.missing.empty();
  task.missing = std::move(inputs.missing);
  task.assumptions = std::move(inputs.assumptions);
  task.comment = std::move(inputs.comment);
  task.task.name = kernel.name;
  task.task.file = unit.file().path;
  if (holds_variant_of(unit, kernel.name))
    kernel.applied_variant = applied_variant(unit.text(), kernel.name);
  return kernel;
}

std::optional<Kernel> kernel_of(const ParsedUnit &unit, const clang::FunctionDecl &function,
                                Inputs inputs) {
  const std::vector<Input> given = inputs.inputs;
  auto kernel = kernel_of(unit, function, function, std::move(inputs));
  if (!kernel)
    return std::nullopt;
  kernel->task.task.module = module_of(unit, function, given);
  kernel->qualified_name = kernel->task.task.module->model;
  const clang::FunctionDecl *own = as_written(unit, function);
  kernel->slice = slice_of(unit, own ? *own : function, own ? *own : function) + "\n# " +
                  kernel->task.task.module->inputs + "\n";
  add_own_headers(unit, *kernel->task.task.module);
  return kernel;
}

/// The part of a function that can be traced, where the whole cannot.
std::optional<Kernel> part_of(const ParsedUnit &unit, const clang::FunctionDecl &function,
                              const ParseSettings &settings, const Spec &extra) {
  const auto cut = cut_of(unit, function);
  const auto whole = unit.range_of(function.getSourceRange()),
             name = unit.range_of(clang::SourceRange(function.getLocation())),
             body = unit.range_of(function.getBody()->getSourceRange());
  if (!cut || !whole || !name || !body)
    return std::nullopt;
  const auto divided = parse_stub({unit.file().path, cut->text}, settings);
  const clang::FunctionDecl *part = divided ? find_function(**divided, cut->name) : nullptr;
  auto kernel =
      part ? kernel_of(**divided, *part, inputs_of(**divided, *part, extra)) : std::nullopt;
  if (!kernel || !kernel->task.inferred)
    return std::nullopt;
  kernel->cut = CppCut{kernel->range, kernel->name_range, kernel->body_range};
  kernel->range = *whole;
  kernel->name_range = *name;
  kernel->body_range = *body;
  kernel->line = unit.line_index().line_of(name->begin) + 1;
  kernel->task.assumptions.push_back("only the statements before " + cut->data_operator +
                                     ", whose result depends on values, become faster; a variant "
                                     "makes them a function of their own");
  return kernel;
}

/// @param module the class with the forward that the user wrote
std::optional<Kernel> kernel_of(const ParsedUnit &unit, const ModuleClass &module,
                                ModuleInputs inputs) {
  auto kernel = kernel_of(unit, *module.type, *module.forward, inputs.call);
  if (kernel)
    kernel->forward = forward_facts(unit, module, inputs);
  if (!kernel || !kernel->forward)
    return std::nullopt;
  kernel->task.task.module = module_of(unit, module, inputs);
  kernel->qualified_name = module.type->getQualifiedNameAsString();
  model::TorchModule &task = *kernel->task.task.module;
  kernel->slice = slice_of(unit, *module.type, *module.forward) + "\n# " + task.inputs + ", " +
                  task.init_inputs +
                  (task.mode == model::ModuleMode::Train ? ", training\n" : "\n");
  add_own_headers(unit, task);
  return kernel;
}

} // namespace

bool is_host_cpp(const std::string &path) {
  return path.ends_with(".cpp") || path.ends_with(".cc") || path.ends_with(".cxx");
}

void add_torch_functions(const SourceFile &file, const ParseSettings &settings, FileFacts &facts,
                         const Spec &extra) {
  if (!speaks_of_tensors(file.text))
    return;
  const auto unit = parse_stub(file, settings);
  if (!unit)
    return;
  for (const clang::FunctionDecl *function : torch_functions(**unit)) {
    if (is_cut(*function))
      continue; // its first statements are a function already, and the others have no trace
    const clang::FunctionDecl *own = as_written(**unit, *function);
    Inputs inputs = inputs_of(**unit, own ? *own : *function, extra);
    if (inputs.error)
      facts.diagnostics.push_back(*inputs.error);
    auto kernel =
        own || !inputs.missing.empty() ? std::nullopt : part_of(**unit, *function, settings, extra);
    if (!kernel)
      kernel = kernel_of(**unit, *function, std::move(inputs));
    if (kernel)
      facts.kernels.push_back(std::move(*kernel));
  }
  for (ModuleClass module : torch_modules(**unit)) {
    if (const clang::CXXMethodDecl *own = as_written(**unit, module))
      module.forward = own;
    ModuleInputs inputs = inputs_of(**unit, module, extra);
    if (inputs.call.error)
      facts.diagnostics.push_back(*inputs.call.error);
    if (auto kernel = kernel_of(**unit, module, std::move(inputs)))
      facts.kernels.push_back(std::move(*kernel));
  }
  std::ranges::stable_sort(facts.kernels, {},
                           [](const Kernel &kernel) { return kernel.range.begin; });
}

} // namespace warpwright::analysis
