// `warpwright optimize`: searches for faster versions of every kernel in the given files, and
// reports the results as text, JSON and HTML.
//
// Wrong arguments are reported before any search. The kernels of a file are optimized one after the
// other, each in the current content of the file, so that edits of --apply compose.
#include "server/cli/optimize_run.h"

#include "analysis/guard/guard.h"
#include "analysis/python/module_facts.h"
#include "server/cli/sources.h"

#include <algorithm>
#include <iostream>

namespace warpwright::cli {
namespace {

/// Writes the files of a variant, all or none.
Result<void> write(const Run &run, const std::filesystem::path &path, const std::string &target,
                   const std::string &before, const KernelOutcome &outcome) {
  if (outcome.plan_file)
    TRY(write_atomically(std::filesystem::path(target).parent_path() / outcome.plan_file->name,
                         outcome.plan_file->text));
  if (!run.options.output.empty())
    return write_atomically(target, outcome.best_text);
  const auto &includer = outcome.includer;
  if (includer)
    TRY(replace_unchanged(includer->path, includer->before, includer->after));
  const Result<void> written = replace_unchanged(path, before, outcome.best_text);
  if (!written && includer)
    TRY(replace_unchanged(includer->path, includer->after, includer->before));
  return written;
}

ApplyResult apply(const Run &run, const std::filesystem::path &path, const std::string &before,
                  const KernelOutcome &outcome) {
  const bool measured = on_gpu(run.report);
  if (!outcome.report.best)
    return {ApplyResult::State::NothingToApply,
            "Nothing to apply: no variant of " + outcome.report.name +
                (measured ? " is faster with confidence." : " was verified.")};
  if (!measured && run.options.apply != ApplyMode::Checked)
    return {
        ApplyResult::State::Refused,
        "Not applied: " + outcome.report.name +
            " was checked on the CPU only, which says nothing about its "
            "speed. Run on a GPU, or say --apply=checked to take the verified variant as it is."};
  if (outcome.includer && !run.options.output.empty())
    return {ApplyResult::State::Refused, "Not applied: the launch in " + outcome.includer->path +
                                             " changes too. To change both files, say no --output."};
  const std::string target = run.options.output.empty() ? path.string() : run.options.output;
  if (const Result<void> written = write(run, path, target, before, outcome); !written)
    return {ApplyResult::State::Refused, "Not applied: " + describe(written.error()) + "."};
  std::string beside = outcome.plan_file ? " Its plan is " + outcome.plan_file->name + ", beside it." : "";
  if (outcome.includer)
    beside += " The launch in " + outcome.includer->path + " changed with it.";
  return {ApplyResult::State::Applied,
          "Applied to " + target + ": " +
              moves_text(outcome.report.variants[*outcome.report.best].moves) + "." + beside +
              (outcome.plan_file && run.options.standalone ? " It cannot stand alone: the comment says why." : "")};
}

void finish_kernel(Run &run, KernelOutcome outcome) {
  warn_of_ledger(run, outcome.ledger_failure);
  if (!run.options.json) {
    TableOptions table{.color = run.terminal.color, .width = run.terminal.width};
    std::cout << render_text(outcome.report, run.report, table) << std::flush;
  }
  run.report.kernels.push_back(std::move(outcome.report));
}

bool is_wanted(const analysis::Kernel &kernel, const std::string &name) {
  return name.empty() || kernel.name == name || kernel.qualified_name == name;
}

/// Optimizes one kernel or torch module in the current content of the file.
Result<void> optimize_one(Run &run, const std::filesystem::path &path,
                          const std::string &qualified_name) {
  auto outcome = optimize_in_file(run, path, qualified_name, path.string());
  if (!outcome)
    return std::unexpected(outcome.error());
  KernelReport &report = outcome->kernel.report;
  if (run.options.apply != ApplyMode::Never && !report.error)
    report.apply = apply(run, path, outcome->text, outcome->kernel);
  finish_kernel(run, std::move(outcome->kernel));
  return {};
}

/// @return number of kernels of the file that match --kernel
Result<std::size_t> optimize_file(Run &run, const std::filesystem::path &path, bool named) {
  const Result<Input> input = run.reader.read(path);
  if (!input)
    return std::unexpected(input.error());
  if (const analysis::Diagnostic *reason = analysis::why_not_analysed(input->facts))
    return fail(path.string() + ": " + reason->message);
  std::vector<std::string> names;
  for (const analysis::Kernel &kernel : input->facts.kernels)
    if (is_wanted(kernel, run.options.kernel))
      names.push_back(kernel.qualified_name);
  if (input->facts.kernels.empty() && (named || analysis::is_python(path.string())))
    return std::unexpected(explain_no_kernels(*input, path));
  for (const std::string &name : names) {
    if (run.interrupt.requested())
      break;
    if (const Result<void> done = optimize_one(run, path, name); !done)
      return std::unexpected(done.error());
  }
  return names.size();
}

bool has_failed(const Report &report) {
  return !report.failures.empty() ||
         std::any_of(report.kernels.begin(), report.kernels.end(), [](const KernelReport &kernel) {
           return kernel.error ||
                  (kernel.apply && kernel.apply->state == ApplyResult::State::Refused);
         });
}

} // namespace

int run_optimize(const OptimizeOptions &options) {
  if (!options.program.empty())
    return run_optimize_program(options);
  server::Interrupt interrupt;
  Run run(options, interrupt);
  const auto files = find_sources(options.paths);
  if (!files)
    return fail_before_start(run, files.error(), kUsage);
  if (const Result<void> settled = settle_options(run, files->front()); !settled)
    return fail_before_start(run, settled.error(), kFailed);
  if (!options.spec.empty())
    if (const Result<void> spec = run.reader.use_spec(options.spec); !spec)
      return fail_before_start(run, spec.error(), kUsage);
  if (const Result<void> ledger = open_ledger(run); !ledger)
    return fail_before_start(run, ledger.error(), kFailed);
  if (const Result<void> connected = connect(run); !connected)
    return fail_before_start(run, connected.error(), kFailed);
  if (!options.json && !on_gpu(run.report))
    std::cout << "No GPU here: variants are checked on the CPU. That proves correctness and not "
                 "GPU speed.\n\n";
  std::size_t found = 0;
  for (const std::filesystem::path &path : *files) {
    const bool named =
        std::find(options.paths.begin(), options.paths.end(), path.string()) != options.paths.end();
    const Result<std::size_t> kernels = optimize_file(run, path, named);
    if (kernels)
      found += *kernels;
    else
      add_failure(run, kernels.error());
  }
  if (found == 0 && run.report.failures.empty())
    add_failure(run, {options.kernel.empty() ? "no kernel in the given files"
                                             : "no kernel named " + options.kernel,
                      "List what there is with: warpwright analyze FILE"});
  return finish(run, has_failed(run.report) ? kFailed : kOk);
}

} // namespace warpwright::cli
