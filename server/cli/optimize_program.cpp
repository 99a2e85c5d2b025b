// `warpwright optimize --program`: records a run of the user's program, optimizes the kernels that take its GPU time,
// and proves the changed program against the original in whole runs.
//
// The program is built and run in copies of its folder (server/program/scratch_folder.h). Only --apply writes into the
// folder, and only --patch outside of the user's cache and state folders. The user typed the commands, so they run as
// the user.
#include "server/cli/capture/contents_run.h"
#include "server/cli/capture/report.h"
#include "server/cli/program_edits.h"
#include "server/cli/program_kernels.h"
#include "server/cli/sources.h"
#include "server/program/run_pairs.h"

#include "support/shared_library.h"
#include "support/text.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;
using State = ProgramKernel::State;

constexpr int kFirstRuns = 3; ///< of the original, from which the mask is learned
/// A search needs this to compile and measure at least a few variants.
constexpr std::chrono::milliseconds kShortestSearch{5'000};
/// GPU time of a kernel's launches in the changed program over the original's: more is a loss.
constexpr double kLoss = 1.02;
/// A changed program may take this many times the original's longest run, and some time to start.
constexpr double kLongestRun = 10, kStart_s = 20;

/// The steps of one `optimize --program`.
class ProgramOptimization {
public:
  ProgramOptimization(Run &run, program::ProgramTrial trial, fs::path folder, std::vector<fs::path> sources,
                      const program::Commands &commands)
      : run_(run), trial_(std::move(trial)), folder_(std::move(folder)), sources_(std::move(sources)) {
    report_.folder = folder_.string();
    report_.run = commands.run;
    report_.build = commands.build;
    report_.check = commands.check;
  }

  /// Errors: the program cannot be built, run or recorded.
  Result<void> go() {
    TRY(run_original());
    const auto times = TRY(record_original());
    kernels_ = launched_kernels(run_, times, report_.first_runs_s->median, sources_, folder_);
    optimize_kernels();
    run_.client.reset(); // whole runs have the GPU to themselves
    TRY(try_edits());
    return {};
  }

  /// The report as far as the steps came.
  ProgramReport take_report() {
    for (LaunchedKernel &kernel : kernels_)
      report_.kernels.push_back(std::move(kernel.reported));
    return std::move(report_);
  }

private:
  void tell(const std::string &text) const { std::cerr << text << std::endl; }
  bool interrupted() const { return run_.interrupt.requested(); }

  Result<void> run_original();
  Result<program::RunTimes> record_original();
  Result<void> look_at_contents(const std::vector<capture::ProcessFolder> &processes);
  void optimize_kernels();
  void optimize_kernel_for(LaunchedKernel &kernel, std::chrono::milliseconds budget);
  Result<void> try_edits();
  std::optional<std::string> why_it_fails(const program::EditSet &chosen, const program::OutputMask &mask);
  bool drop_losses(program::EditSet &kept);
  Result<std::string> compare_times(const program::OutputMask &mask);
  Result<void> keep_nothing(const program::EditSet &edits, const std::string &why, const std::string &outcome);
  Result<void> write_results(const program::EditSet &kept);
  void apply(const program::Sources &changed);

  Run &run_;
  program::ProgramTrial trial_;
  fs::path folder_;
  std::vector<fs::path> sources_;
  ProgramReport report_;
  std::vector<LaunchedKernel> kernels_;
  std::vector<program::RunOutput> outputs_; ///< of the original
  std::set<std::string> launched_;          ///< names of the original's kernels
  std::vector<ProgramEdit> edits_;
  program::Sources originals_; ///< texts of files with edits
  std::stop_token stop_;       ///< of the steps after the searches
};

Measured measured(const runner::Interval &interval, std::size_t samples) {
  return {interval.median, interval.low, interval.high, samples};
}

Result<void> ProgramOptimization::run_original() {
  tell("Building a copy of " + folder_.string() + (report_.build.empty() ? "" : ": " + report_.build));
  TRY(trial_.build(program::kOriginal));
  std::vector<double> seconds;
  for (int i = 0; i < kFirstRuns; ++i) {
    tell("Run " + std::to_string(i + 1) + " of " + std::to_string(kFirstRuns) + " of the original: " + report_.run);
    program::ProgramRun one = TRY(trial_.run(program::kOriginal));
    if (interrupted())
      return fail("interrupted before anything was tried");
    if (!one.failure.empty())
      return fail("the original program fails: " + one.failure, "Make it run in its folder first: " + report_.run);
    seconds.push_back(one.seconds);
    outputs_.push_back(std::move(one.output));
  }
  report_.first_runs_s = measured(runner::median_interval(seconds), seconds.size());
  const double longest_s = kLongestRun * *std::ranges::max_element(seconds) + kStart_s;
  trial_.limit_runs(std::chrono::milliseconds(static_cast<std::int64_t>(longest_s * 1e3)));
  return {};
}

struct Recorded {
  std::vector<capture::ProcessFolder> processes;
  program::RunTimes times;
};

/// Runs a tree with the capture library. @param wanted folder, as start_capture()
/// @return what was recorded, or why the run is of no use
Result<Recorded> recorded(program::ProgramTrial &trial, const std::string &tree, const std::string &wanted,
                          const capture::RunFacts &facts, std::string &folder) {
  auto started = TRY(start_capture(wanted, facts));
  folder = started.folder.string();
  const program::ProgramRun ran = TRY(trial.run(tree, started.environment));
  TRY(end_capture(started, ran.output.status));
  std::vector<Error> problems;
  auto processes = read_processes(started.folder, problems);
  for (const Error &problem : problems)
    print_error(problem);
  program::RunTimes times = program::times_of(processes);
  if (!ran.failure.empty())
    return fail("the recorded run fails, though the program does not without recording: " + ran.failure);
  if (times.kernels.empty()) {
    const std::string why = render_capture(processes, SharedLibrary({"libcuda.so.1"}).is_open());
    return fail("no kernel was recorded. " + why.substr(0, why.find_last_not_of(".\n") + 1));
  }
  return Recorded{std::move(processes), std::move(times)};
}

/// The words of a command, for people and for the name of a capture.
std::vector<std::string> words_of(const std::string &command) {
  std::istringstream text(command);
  return {std::istream_iterator<std::string>(text), {}};
}

Result<program::RunTimes> ProgramOptimization::record_original() {
  tell("Recording a run");
  const capture::RunFacts facts{
      .command = words_of(report_.run), .folder = folder_.string(), .started = {}, .status = std::nullopt};
  const auto [processes, times] = TRY(recorded(trial_, program::kOriginal, "", facts, report_.capture));
  report_.gpu_ns = times.gpu_ns();
  for (const program::KernelTime &kernel : times.kernels)
    launched_.insert(kernel.name);
  if (const auto seen = look_at_contents(processes); !seen)
    print_error(seen.error()); // the tasks' inputs are drawn without it
  return times;
}

Result<void> ProgramOptimization::look_at_contents(const std::vector<capture::ProcessFolder> &processes) {
  const auto wanted = launches_to_look_at(processes);
  if (wanted.empty())
    return {};
  tell("Running it again to see what its buffers hold");
  const auto environment = TRY(start_contents_run(report_.capture, wanted));
  const program::ProgramRun ran = TRY(trial_.run(program::kOriginal, environment));
  if (!ran.failure.empty())
    return fail("the run in which buffers are looked at fails: " + ran.failure);
  return {};
}

void ProgramOptimization::optimize_kernels() {
  auto left = run_.options.budget.value_or(kDefaultProgramBudget);
  for (std::size_t i = 0; i < kernels_.size() && !interrupted(); ++i) {
    const auto can_be_tried = [](const LaunchedKernel &kernel) {
      return kernel.source && kernel.source->inferred && kernel.reported.gpu_share >= kLeastShare;
    };
    if (!can_be_tried(kernels_[i]))
      continue;
    std::vector<double> savings;
    for (std::size_t next = i; next < kernels_.size(); ++next)
      savings.push_back(can_be_tried(kernels_[next]) ? could_save_ns(kernels_[next]) : 0);
    const auto budget = program::split_budget(left, savings, kShortestSearch).front();
    if (budget.count() == 0) {
      kernels_[i].reported.why = savings.front() > 0 ? "no time was left for it; give more with --budget"
                                                     : "its launches take the least time that their bytes need";
      continue;
    }
    optimize_kernel_for(kernels_[i], budget);
    const auto used = std::chrono::milliseconds(static_cast<std::int64_t>(run_.report.kernels.back().seconds * 1e3));
    left = std::max(left - used, std::chrono::milliseconds(0));
  }
  if (interrupted())
    for (LaunchedKernel &kernel : kernels_)
      if (kernel.reported.state == State::NotTried && kernel.reported.why.empty())
        kernel.reported.why = "interrupted before it";
}

void ProgramOptimization::optimize_kernel_for(LaunchedKernel &kernel, std::chrono::milliseconds budget) {
  ProgramKernel &reported = kernel.reported;
  tell(reported.name + " in " + reported.file + ": " + printed("%.1f%%", 100 * reported.gpu_share) +
       " of the GPU time, " + printed("%.0f s", static_cast<double>(budget.count()) / 1e3) + " of search");
  run_.budget = budget;
  reported.budget = budget;
  auto outcome = optimize_in_file(run_, kernel.source->path, kernel.source->qualified_name, reported.file);
  if (!outcome) {
    reported.state = State::Failed;
    reported.why = outcome.error().message;
    run_.report.kernels.push_back({.file = reported.file, .name = reported.name, .error = outcome.error()});
    return;
  }
  KernelOutcome &found = outcome->kernel;
  warn_of_ledger(run_, found.ledger_failure);
  const std::string launching =
      found.includer ? fs::path(found.includer->path).lexically_relative(folder_).string() : "";
  if (found.includer && (launching.empty() || launching.starts_with(".."))) {
    reported.state = State::Failed;
    reported.why = "its launch would change too, and is outside of the folder: " + found.includer->path;
  } else if (found.best && (found.best_text != outcome->text || found.includer)) {
    const model::Verdict &verdict = found.best->verdict;
    reported.state = State::LeftOut; // until the whole program has run with it
    reported.why = "the changed program was not run";
    reported.moves = found.best->plan.moves;
    reported.speedup = verdict.speedup;
    if (verdict.reference_time)
      reported.task_ns = verdict.reference_time->kernel_ns.value_or(verdict.reference_time->median_ns);
    edits_.push_back({static_cast<std::size_t>(&kernel - kernels_.data()), reported.file, *found.best});
    originals_.try_emplace(reported.file, outcome->text);
    if (found.includer)
      originals_.try_emplace(launching, found.includer->before);
    tell("  " + (verdict.speedup ? model::speedup_text(*verdict.speedup) + " " : "checked ") +
         moves_text(reported.moves));
  } else if (found.report.error) {
    reported.state = State::Failed;
    reported.why = found.report.error->message;
    tell("  " + reported.why);
  } else {
    reported.state = State::NothingFaster;
    tell("  nothing faster");
  }
  run_.report.kernels.push_back(std::move(found.report));
}

std::optional<std::string> ProgramOptimization::why_it_fails(const program::EditSet &chosen,
                                                             const program::OutputMask &mask) {
  tell("Trying the program with " + std::to_string(chosen.size()) + (chosen.size() == 1 ? " edit" : " edits"));
  const auto sources = edited_sources(edits_, chosen, originals_, folder_);
  if (!sources)
    return sources.error().message;
  if (const auto built = trial_.build(program::kChanged, *sources); !built)
    return built.error().message;
  const auto ran = trial_.run(program::kChanged);
  if (!ran)
    return ran.error().message;
  return program::disagreement(*ran, mask);
}

/// Takes out edits whose launches take longer in the whole program. @return whether there were any
bool ProgramOptimization::drop_losses(program::EditSet &kept) {
  std::string folder;
  const capture::RunFacts facts{.command = words_of(report_.run), .folder = {}, .started = {}, .status = std::nullopt};
  const auto changed = recorded(trial_, program::kChanged, trial_.beside("changed-run").string(), facts, folder);
  std::error_code error;
  if (!folder.empty())
    fs::remove_all(folder, error);
  if (!changed) {
    report_.not_compared.push_back("GPU times of the changed program: " + changed.error().message);
    return false;
  }
  report_.changed_gpu_ns = changed->times.gpu_ns();
  program::EditSet without;
  for (const std::size_t number : kept) {
    const ProgramEdit &edit = edits_[number];
    ProgramKernel &kernel = kernels_[edit.kernel].reported;
    double total_ns = 0;
    for (const program::KernelTime &time : changed->times.kernels)
      if (time.name == kernel.name || (!launched_.contains(time.name) && mentions(edit.entry.plan.source, time.name)))
        total_ns += time.total_ns;
    kernel.changed_total_ns = total_ns;
    if (total_ns > kLoss * kernel.total_ns)
      kernel.why = "its launches take longer in the whole program";
    else
      without.push_back(number);
  }
  std::swap(kept, without);
  return kept.size() != without.size();
}

Result<void> ProgramOptimization::try_edits() {
  report_.interrupted = interrupted();
  if (edits_.empty()) {
    report_.outcome = "Nothing is changed: no kernel has a variant that is verified and faster.";
    return {};
  }
  if (interrupted())
    tell("Interrupted: the program is tried with what was found. Ctrl-C again ends this at once");
  stop_ = interrupted() ? std::stop_token() : run_.interrupt.token();
  const program::OutputMask mask(outputs_, tolerance_of(edits_));
  report_.texts = mask.texts();
  report_.not_compared = mask.left_out();
  program::Halved halved = program::halve(
      edits_.size(), [&](const program::EditSet &chosen) { return why_it_fails(chosen, mask); }, stop_);
  report_.tests = halved.tests;
  for (const auto &[number, why] : halved.guilty)
    kernels_[edits_[number].kernel].reported.why = why;
  program::EditSet kept = std::move(halved.kept);
  // The last test may have failed, so the tree is made anew where edits were left out.
  constexpr char kLater[] =
      "Nothing is changed: the edits passed once, and a later run of the changed program failed or differed.";
  if (!kept.empty() && !halved.guilty.empty())
    if (const auto why = why_it_fails(kept, mask))
      return keep_nothing(kept, *why, kLater);
  while (!kept.empty() && !interrupted() && drop_losses(kept) && !kept.empty())
    if (const auto why = why_it_fails(kept, mask))
      return keep_nothing(kept, *why, kLater);
  if (kept.empty())
    return keep_nothing({}, {}, "Nothing is changed: the whole program fails, differs or is slower with each edit.");
  if (const std::string why = TRY(compare_times(mask)); !why.empty())
    return keep_nothing(kept, why, kLater);
  if (report_.ratio && report_.ratio->high < 1)
    return keep_nothing(kept, "the whole program is slower with it",
                        "Nothing is changed: the whole run takes longer with the edits.");
  return write_results(kept);
}

Result<void> ProgramOptimization::keep_nothing(const program::EditSet &edits, const std::string &why,
                                               const std::string &outcome) {
  for (const std::size_t number : edits)
    kernels_[edits_[number].kernel].reported.why = why;
  report_.outcome = outcome;
  return {};
}

/// @return how a run of the changed program differed; empty: none did
Result<std::string> ProgramOptimization::compare_times(const program::OutputMask &mask) {
  if (interrupted()) {
    report_.interrupted = true;
    report_.outcome = "The changed program's output agrees; whole runs were not timed, because of the interruption.";
    return "";
  }
  tell("Pairs of whole runs");
  const auto pairs =
      TRY(program::run_pairs([&](const std::string &tree) { return trial_.run(tree); }, mask, {}, stop_));
  report_.interrupted = interrupted();
  if (!pairs.failure.empty())
    return pairs.failure;
  if (pairs.original_s.size() < program::PairLimits{}.fewest) {
    report_.outcome =
        "The changed program's output agrees; too few pairs of whole runs were timed before the interruption.";
    return "";
  }
  const std::size_t count = pairs.original_s.size();
  report_.original_s = measured(runner::median_interval(pairs.original_s), count);
  report_.changed_s = measured(runner::median_interval(pairs.changed_s), count);
  report_.ratio = measured(runner::median_ratio_interval(pairs.original_s, pairs.changed_s), count);
  const std::string ratio = printed("%.2fx", report_.ratio->median) + printed(" [%.2f, ", report_.ratio->low) +
                            printed("%.2f]", report_.ratio->high);
  report_.outcome = report_.ratio->low > 1
                        ? "The whole run is " + ratio + " faster, with the same output."
                        : "The whole run is as fast as before (" + ratio + "), with the same output.";
  return "";
}

Result<void> ProgramOptimization::write_results(const program::EditSet &kept) {
  const program::Sources changed = TRY(edited_sources(edits_, kept, originals_, folder_));
  for (const std::size_t number : kept) {
    ProgramKernel &kernel = kernels_[edits_[number].kernel].reported;
    kernel.state = State::Kept;
    kernel.why.clear();
  }
  for (const auto &[file, text] : changed)
    report_.changed_files.push_back(file);
  report_.patch = patch_of(originals_, changed);
  fs::path path = run_.options.patch;
  if (path.empty()) {
    path = runner::Ledger::default_path().parent_path() / "patches" /
           (fs::path(report_.capture).filename().string() + ".patch");
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
  }
  TRY(write_atomically(path, report_.patch));
  report_.patch_path = path.string();
  if (run_.options.apply != ApplyMode::Never)
    apply(changed);
  return {};
}

void ProgramOptimization::apply(const program::Sources &changed) {
  if (!on_gpu(run_.report) && run_.options.apply != ApplyMode::Checked) {
    report_.apply = {ApplyResult::State::Refused,
                     "Not applied: the variants were checked on the CPU only. Run on a GPU, or "
                     "say --apply=checked to take them as they are."};
    return;
  }
  report_.apply = {ApplyResult::State::Applied, "Applied to " + joined(report_.changed_files, ", ") + "."};
  for (const auto &[file, text] : changed)
    if (const auto written = replace_unchanged(folder_ / file, originals_.at(file), text); !written)
      report_.apply = {ApplyResult::State::Refused, "Not applied to " + file + ": " + describe(written.error()) + "."};
}

/// The build command: the user's, or make where there is a makefile.
Result<std::string> build_command(const OptimizeOptions &options, const fs::path &folder) {
  std::error_code error;
  for (const char *name : {"GNUmakefile", "makefile", "Makefile"})
    if (options.build.empty() && fs::exists(folder / name, error))
      return "make";
  if (options.build.empty())
    return fail("it is not known how the program in " + folder.string() + " is built",
                "Name the command with --build, as --build 'cmake -B build && cmake --build build'; --build true "
                "builds nothing");
  return options.build;
}

Result<std::vector<fs::path>> sources_in(const OptimizeOptions &options, const fs::path &folder) {
  auto found = TRY(find_sources(options.paths.empty() ? std::vector<std::string>{"."} : options.paths));
  for (const fs::path &path : found) {
    const fs::path inside = fs::absolute(path).lexically_normal().lexically_relative(folder);
    if (inside.empty() || *inside.begin() == "..")
      return fail(path.string() + " does not lie in the program's folder " + folder.string(),
                  "Start this in a folder that has all sources of the program");
  }
  return found;
}

/// Errors: what would end the work later, after the program's runs.
Result<void> get_ready(Run &run, const fs::path &first) {
  TRY(settle_options(run, first));
  TRY(can_capture());
  TRY(open_ledger(run));
  return connect(run);
}

} // namespace

int run_optimize_program(const OptimizeOptions &options) {
  server::Interrupt interrupt;
  Run run(options, interrupt);
  const fs::path folder = fs::current_path();
  const auto sources = sources_in(options, folder);
  if (!sources)
    return fail_before_start(run, sources.error(), kUsage);
  const auto build = build_command(options, folder);
  if (!build)
    return fail_before_start(run, build.error(), kUsage);
  if (!options.spec.empty())
    if (const Result<void> spec = run.reader.use_spec(options.spec); !spec)
      return fail_before_start(run, spec.error(), kUsage);
  if (const Result<void> ready = get_ready(run, sources->front()); !ready)
    return fail_before_start(run, ready.error(), kFailed);
  auto scratch = program::ScratchFolder::make(folder);
  if (!scratch)
    return fail_before_start(run, scratch.error(), kFailed);
  const program::Commands commands{.run = options.program, .build = *build, .check = options.check};
  ProgramOptimization optimization(run, program::ProgramTrial(*std::move(scratch), commands), folder, *sources,
                                   commands);
  const auto done = optimization.go();
  if (!done)
    add_failure(run, done.error());
  run.report.program = std::make_shared<const ProgramReport>(optimization.take_report());
  if (!options.json && done)
    std::cout << render_text(*run.report.program, {.color = run.terminal.color, .width = run.terminal.width});
  return finish(run, done ? kOk : kFailed);
}

} // namespace warpwright::cli
