// Moves on public programs: what a move makes of a kernel with a task is a plan, and compiles.
//
// Fetch the programs first; WARPWRIGHT_CORPUS names their folders, joined by ":". Each move that a
// kernel has an offer of is applied with its first and its last choice. Kernels with a slice that
// does not compile are counted. The test takes about half an hour for HeCBench.
#include "analysis/config/file_settings.h"
#include "generator/text/states/generator.h"
#include "tests/analysis/corpus_files.h"
#include "tests/analysis/nvrtc_probe.h"

#include <doctest/doctest.h>

#include <cstdio>

namespace warpwright {
namespace {

struct Counts {
  int applied = 0, refused = 0, not_expressed = 0, not_compiled = 0;
};

class Corpus {
public:
  void add_file(const std::filesystem::path &path) {
    const analysis::SourceFile file{std::filesystem::absolute(path).string(), tests::text_of(path)};
    const analysis::ParseSettings settings = reader_.read(file.path).parse;
    for (const analysis::Kernel &kernel : analysis::analyze(file, settings).kernels)
      if (kernel.task.inferred)
        add_kernel(file, settings, kernel);
  }

  void report() const {
    std::printf("%d kernels with tasks, %d of them do not compile\n", kernels_, broken_);
    std::printf("%-24s %8s %8s %14s %13s\n", "move", "applied", "refused", "not expressed", "not compiled");
    for (const auto &[name, counts] : counts_)
      std::printf("%-24s %8d %8d %14d %13d\n", name.c_str(), counts.applied, counts.refused, counts.not_expressed,
                  counts.not_compiled);
  }

private:
  void add_kernel(const analysis::SourceFile &file, const analysis::ParseSettings &settings,
                  const analysis::Kernel &kernel) {
    ++kernels_;
    if (const auto errors = errors_of(kernel.task.task.reference); errors && !errors->empty()) {
      ++broken_;
      return;
    }
    const source::State state = states::state_of_file(file, settings, kernel.name, kernel.task.task,
                                                      *arch::gpu_named("h200"));
    std::map<std::string, std::vector<source::Move>> offers;
    for (const source::Move &move : states::legal_moves(state))
      offers[move.name].push_back(move);
    for (const auto &[name, moves] : offers) {
      apply(state, kernel, moves.front());
      if (moves.size() > 1)
        apply(state, kernel, moves.back());
    }
  }

  void apply(const source::State &state, const analysis::Kernel &kernel, const source::Move &move) {
    Counts &counts = counts_[move.name];
    const std::string what = state.file.path + ": " + kernel.name + ": " + source::to_string(move);
    const auto next = states::apply_move(state, move);
    if (!next) {
      ++counts.refused;
      return;
    }
    ++counts.applied;
    const auto plan = states::render_plan(*next, kernel.task.task);
    counts.not_expressed += !plan;
    CHECK_MESSAGE(plan, what << ": " << describe(plan.error()));
    const auto errors = plan ? errors_of(*plan) : std::nullopt;
    counts.not_compiled += errors && !errors->empty();
    if (errors)
      CHECK_MESSAGE(errors->empty(), what << ": " << *errors);
  }

  static std::optional<std::string> errors_of(const model::Plan &plan) {
    return tests::nvrtc_errors(plan.source, {std::get<model::LaunchStep>(plan.steps.back()).kernel});
  }

  config::SettingsReader reader_;
  std::map<std::string, Counts> counts_;
  int kernels_ = 0, broken_ = 0;
};

TEST_CASE("what moves make of public programs are plans, and compile") {
  const std::vector<std::filesystem::path> files = tests::corpus_files();
  if (files.empty()) {
    std::puts("all cases skipped: WARPWRIGHT_CORPUS names no folder with CUDA sources");
    return;
  }
  Corpus corpus;
  for (const std::filesystem::path &path : files)
    corpus.add_file(path);
  corpus.report();
}

} // namespace
} // namespace warpwright
