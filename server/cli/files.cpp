// Implementation of reading inputs.
#include "server/cli/files.h"

#include "analysis/config/project_disk.h"
#include "analysis/guard/guard.h"
#include "analysis/python/module_facts.h"
#include "analysis/torch_cpp/kernels.h"
#include "support/files.h"

#include <algorithm>

namespace warpwright::cli {
namespace {

/// Parses a file. Runs inside a guard (analysis/guard).
analysis::FileFacts facts_of(Input input, const server::RunsOfFile &runs,
                             const std::optional<analysis::Spec> &spec) {
  input.facts = analysis::is_host_cpp(input.file.path)
                    ? analysis::FileFacts{.path = input.file.path, .pass = analysis::Pass::Stub}
                    : analysis::analyze(input.file, input.settings.parse);
  server::complete_tasks(input.facts, input.file.text, input.settings, runs, spec);
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
    input.facts = analysis::module_facts(input.file.path, input.file.text, config::real_disk());
  } else {
    Result<analysis::FileFacts> facts =
        analysis::guarded(analysis::kCommandLimits,
                          [input, runs = settings_.captured(input.file.path), spec = spec_] {
                            return Result<analysis::FileFacts>(facts_of(input, runs, spec));
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
  if (analysis::is_python(path.string())) {
    const auto &found = input.facts.diagnostics;
    return {found.empty() ? "no torch module in " + path.string() : found.front().message,
            "A module is a class that derives from nn.Module"};
  }
  return {"no kernel in " + path.string(), "A kernel is a function declared __global__"};
}

} // namespace warpwright::cli
