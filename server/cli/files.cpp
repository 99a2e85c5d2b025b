// Implementation of reading inputs.
#include "server/cli/files.h"

#include "analysis/config/project_disk.h"
#include "analysis/guard/guard.h"
#include "analysis/python/module_facts.h"
#include "analysis/task/infer_task.h"
#include "analysis/torch_cpp/kernels.h"
#include "server/cli/sources.h"

#include <algorithm>

namespace warpwright::cli {
namespace {

/// The project's sizes for what the source does not say, and the spec over them.
std::optional<analysis::Spec> additions(const analysis::Kernel &kernel,
                                        const std::map<std::string, std::int64_t> &project_sizes,
                                        const std::optional<analysis::Spec> &given) {
  analysis::Spec spec;
  for (const analysis::MissingFact &fact : kernel.task.missing)
    if (const auto size = project_sizes.find(fact.name); size != project_sizes.end())
      spec.sizes.insert(*size);
  if (given)
    analysis::merge(spec, *given);
  return given || !spec.sizes.empty() ? std::optional(std::move(spec)) : std::nullopt;
}

/// Infers again the tasks for which the project or `given` says more than the source.
void complete_tasks(Input &input, const std::optional<analysis::Spec> &given) {
  const auto &sizes = input.settings.project.sizes;
  std::unique_ptr<analysis::ParsedUnit> unit;
  for (analysis::Kernel &kernel : input.facts.kernels) {
    const std::optional<analysis::Spec> spec = additions(kernel, sizes, given);
    if (!spec || kernel.slice.empty())
      continue;
    if (!unit)
      if (auto parsed = analysis::parse_stub(input.file, input.settings.parse))
        unit = std::move(*parsed);
    const clang::FunctionDecl *declaration = unit ? unit->find_kernel(kernel.name) : nullptr;
    if (declaration)
      kernel.task = analysis::infer_task(*unit, *declaration, kernel, kernel.slice, *spec);
  }
}

/// Parses; for a guard.
analysis::FileFacts facts_of(Input input, const std::optional<analysis::Spec> &spec) {
  input.facts = analysis::is_host_cpp(input.file.path)
                    ? analysis::FileFacts{.path = input.file.path, .pass = analysis::Pass::Stub}
                    : analysis::analyze(input.file, input.settings.parse);
  complete_tasks(input, spec);
  analysis::add_torch_functions(input.file, input.settings.parse, input.facts,
                                 spec.value_or(analysis::Spec{}));
  return std::move(input.facts);
}

} // namespace

config::FileSettings InputReader::settings_of(const std::filesystem::path &path) {
  return settings_.read(std::filesystem::absolute(path).lexically_normal().string());
}

Result<void> InputReader::use_spec(const std::filesystem::path &path) {
  const Result<std::string> text = read_file(path);
  if (!text)
    return std::unexpected(text.error());
  Result<analysis::Spec> spec = analysis::parse_spec(*text);
  if (!spec)
    return fail(path.string() + ": " + spec.error().message, spec.error().remedy);
  spec_ = std::move(*spec);
  return {};
}

Result<Input> InputReader::read(const std::filesystem::path &path) {
  const Result<std::string> text = read_file(path);
  if (!text)
    return std::unexpected(text.error());
  Input input;
  input.file = {std::filesystem::absolute(path).lexically_normal().string(), *text};
  input.settings = settings_.read(input.file.path);
  if (analysis::is_python(input.file.path)) {
    input.facts =
        analysis::module_facts(input.file.path, input.file.text, config::real_disk());
  } else {
    Result<analysis::FileFacts> facts =
        analysis::guarded(analysis::kCommandLimits, [input, spec = spec_] {
          return Result<analysis::FileFacts>(facts_of(input, spec));
        });
    input.facts = facts ? std::move(*facts) : analysis::scanned_facts(input.file, facts.error());
  }
  const std::vector<std::string> &disabled = input.settings.project.disabled_rules;
  std::erase_if(input.facts.diagnostics, [&](const analysis::Diagnostic &diagnostic) {
    return std::ranges::find(disabled, diagnostic.rule) != disabled.end();
  });
  return input;
}

Error explain_no_kernels(const Input &input, const std::filesystem::path &path) {
  for (const analysis::Diagnostic &diagnostic : input.facts.diagnostics)
    if (diagnostic.rule == "syntax" && diagnostic.severity == analysis::Severity::Error)
      return {
          "cannot parse " + path.string() + ":" + std::to_string(diagnostic.line) + ":" +
              std::to_string(diagnostic.column) + ": " + diagnostic.message,
          "Make the file compile first; flags come from compile_commands.json or .warpwright.toml"};
  if (analysis::is_host_cpp(path.string()))
    return {"no torch function in " + path.string(),
            "One takes a torch::Tensor and returns tensors (docs/torch-cpp.md)"};
  return {"no kernel in " + path.string(), "A kernel is a function declared __global__"};
}

} // namespace warpwright::cli
