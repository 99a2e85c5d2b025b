// Implementation of reading inputs.
#include "server/cli/files.h"

#include "analysis/analyze_in.h"
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
                             const std::optional<analysis::Spec> &spec,
                             const server::FileSystem &files) {
  input.facts = analysis::is_host_cpp(input.file.path)
                    ? analysis::FileFacts{.path = input.file.path, .pass = analysis::Pass::Stub}
                    : analysis::analyze_in(files, input.file, input.settings.parse);
  server::complete_tasks(input.facts, input.file.text, input.settings, runs, spec, files);
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

Input InputReader::analyzed(analysis::SourceFile file, config::FileSettings settings,
                            const std::string &captured_path) {
  Input input{std::move(file), {}, std::move(settings)};
  if (analysis::is_python(input.file.path)) {
    input.facts = analysis::module_facts(input.file.path, input.file.text, config::real_disk());
  } else {
    Result<analysis::FileFacts> facts =
        analysis::guarded(analysis::kCommandLimits,
                          [input, runs = settings_.captured(captured_path), spec = spec_, files = files_] {
                            return Result<analysis::FileFacts>(facts_of(input, runs, spec, files));
                          });
    input.facts = facts ? std::move(*facts) : analysis::scanned_facts(input.file, facts.error());
  }
  const std::vector<std::string> &disabled = input.settings.project.disabled_rules;
  std::erase_if(input.facts.diagnostics, [&](const analysis::Diagnostic &diagnostic) {
    return std::ranges::find(disabled, diagnostic.rule) != disabled.end();
  });
  return input;
}

Result<Input> InputReader::read(const std::filesystem::path &path) {
  const auto buffer =
      files_->getBufferForFile(path.string(), -1, /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!buffer)
    return fail("cannot read " + path.string() + ": " + buffer.getError().message(),
                "Check the path and its permissions");
  return read(path, (*buffer)->getBuffer().str());
}

Input InputReader::read(const std::filesystem::path &path, std::string text) {
  const std::string absolute = std::filesystem::absolute(path).lexically_normal();
  return analyzed({absolute, std::move(text)}, settings_.read(absolute), absolute);
}

Result<Input> InputReader::read_copy(const std::filesystem::path &copy,
                                     const std::filesystem::path &original, const MovedRoot &moved) {
  std::string text = TRY(read_file(copy));
  config::FileSettings settings = settings_.read(copy);
  const auto of_project = settings_.read(original);
  settings.parse = of_project.parse;
  settings.project.disabled_rules = of_project.project.disabled_rules;
  const auto move_path = [&](std::string &value) {
    const auto at = value.ends_with(moved.from) ? value.size() - moved.from.size() : value.find(moved.from + "/");
    if (at == std::string::npos)
      return;
    const std::string path = moved.to + value.substr(at + moved.from.size());
    if (std::filesystem::exists(path))
      value = value.substr(0, at) + path;
  };
  for (std::string &flag : settings.parse.flags)
    move_path(flag);
  for (std::vector<std::string> *files : {&settings.parse.program, &settings.parse.other_includers})
    for (std::string &file : *files)
      move_path(file);
  move_path(settings.parse.directory);
  move_path(settings.parse.included_by);
  return analyzed({copy, std::move(text)}, std::move(settings), original);
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
            "One takes a torch::Tensor and returns tensors (docs/use/torch-cpp.md)"};
  if (analysis::is_python(path.string())) {
    const auto &found = input.facts.diagnostics;
    return {found.empty() ? "no torch module in " + path.string() : found.front().message,
            "A module is a class that derives from nn.Module"};
  }
  return {"no kernel in " + path.string(), "A kernel is a function declared __global__"};
}

} // namespace warpwright::cli
