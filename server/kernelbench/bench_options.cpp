#include "server/kernelbench/bench_options.h"

#include "support/model/verify_options.h"

#include <CLI/CLI.hpp>
#include <map>

namespace warpwright::server {
namespace {

/// Names of the framework variants, by what a user gives for them: torch.compile's mode, else the name.
std::map<std::string, std::string> baselines_by_option() {
  std::map<std::string, std::string> names;
  for (const model::CompiledVariant &variant : model::kCompiledVariants)
    names[std::string(variant.mode.empty() ? variant.name : variant.mode)] = variant.name;
  return names;
}

} // namespace

void add_bench_options(CLI::App &command, BenchCommand &bench) {
  command
      .add_option("--kernelbench", bench.path,
                  "A checkout of KernelBench, a Python file, or JSON lines with `ref_code`")
      ->required();
  command.add_option("--level", bench.levels, "Levels to run, as 1,2,3; default: all")
      ->delimiter(',');
  command
      .add_option_function<std::string>(
          "--mode",
          [&bench](const std::string &mode) { bench.mode = *model::module_mode_from_name(mode); },
          "How the modules are called: made, as their constructors leave them, eval or train; "
          "default: made, as the benchmark's own harness does")
      ->check(CLI::IsMember({"made", "eval", "train"}));
  command.add_flag("--no-measure", bench.no_measure,
                   "Verify plans and export them, and measure nothing: with --from to write the "
                   "exports of an earlier run again");
  command.add_option("--tasks", bench.tasks, "Only these, as 1/23,2/5");
  command
      .add_option("--results", bench.results,
                  "Results as they come; the same command goes on from them")
      ->capture_default_str();
  command.add_option("--html", bench.html, "Write a page with tables and plots to this file");
  command.add_option("--json", bench.json, "Write summary and results to this file");
  command.add_option("--export", bench.export_folder,
                     "Write each verified candidate to this folder as a ModelNew with a plan file; "
                     "it needs the package warpwright");
  command
      .add_flag("--standalone", bench.standalone,
                "With --export: where it takes at most 100 lines, the files hold the kernels and "
                "need only torch 2.8")
      ->needs("--export");
  auto *candidates =
      command.add_option("--candidates", bench.candidates,
                         "Judge other systems' ModelNew modules instead: a folder, or JSON lines "
                         "with level_id, task_id and code. They are host code "
                         "and run in a separate process");
  command
      .add_option("--candidate-field", bench.candidate_field,
                  "Which member of a line is the answer; default: code, custom_code, cuda_code or "
                  "model_new")
      ->needs(candidates);
  command.add_option("--runner", bench.runner, "Runner to use; default: start one");
  command.add_option("--device", bench.device,
                     "Device of the runner: cuda:0, cpu; default: its best");
  command
      .add_option("--jobs", bench.at_once,
                  "Tasks in work at a time; default: two for each worker of a GPU")
      ->check(CLI::Range(1, 256));
  command
      .add_option("--workers-per-gpu", bench.workers_per_gpu,
                  "Of a runner that is started here: workers that take turns on a GPU")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  command.add_option("--max-variants", bench.max_variants, "Variants to try for each task")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command
      .add_option("--measure-seconds", bench.measure_seconds,
                  "Measuring time of the export of each task's best against each baseline")
      ->check(CLI::Range(0.05, 600.0))
      ->capture_default_str();
  command
      .add_option(
          "--baselines", bench.baselines,
          "Framework variants to measure against in addition to eager, each as called and as a "
          "CUDA graph: torch.compile, max-autotune-no-cudagraphs")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(baselines_by_option()))
      ->capture_default_str();
  command
      .add_option("--search-seconds", bench.search_seconds,
                  "Measuring time of each variant, before the best is known")
      ->check(CLI::Range(0.02, 600.0))
      ->capture_default_str();
  command.add_option("--from", bench.known,
                     "Results of an earlier run: the best plan of each task comes first");
  command.add_flag("--stages", bench.stages, "Tell what each task is at");
  command.add_option("--minutes", bench.minutes, "Begin no task after so long")
      ->check(CLI::PositiveNumber);
}

} // namespace warpwright::server
