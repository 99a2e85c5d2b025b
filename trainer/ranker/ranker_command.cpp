#include "trainer/ranker/ranker_command.h"

#include "support/files.h"
#include "trainer/environment/env_line.h"
#include "trainer/inference/shipped_weights.h"
#include "trainer/ranker/ranker_file.h"
#include "trainer/ranker/replay_report.h"
#include "trainer/ranker/source_shape.h"

#include <algorithm>
#include <iostream>

namespace warpwright::trainer {
namespace {

Result<RecordBook> read_books(const std::vector<std::string> &paths) {
  RecordBook all;
  for (const std::string &path : paths) {
    const RecordBook book = TRY(RecordBook::read(path));
    TRY(all.add(book));
  }
  return all;
}

Result<KernelFacts> facts_of(const RankerOptions &options, const RecordBook &book) {
  if (options.ask.empty())
    return read_kernel_facts(options.kernel_facts);
  auto env = TRY(EnvPool::start(find_program(options.ask), 1));
  auto facts = TRY(ask_kernel_facts(book, *env));
  TRY(write_kernel_facts(facts, options.kernel_facts));
  std::cout << options.kernel_facts << ": " << facts.kernels.size() << " kernels\n";
  return facts;
}

/// Removes the tasks that share their source with a benchmark. @return how many
std::size_t drop_excluded(std::vector<RankedTask> &tasks, const ExcludedSources &excluded) {
  return std::erase_if(tasks, [&](const RankedTask &task) {
    const auto found = excluded.find(task.source);
    if (found != excluded.end())
      std::cerr << "left out: " << task.id << " has the source of " << found->second << "\n";
    return found != excluded.end();
  });
}

std::string description_of(const std::vector<const RankedTask *> &tasks) {
  std::size_t candidates = 0;
  std::set<std::string> sources;
  for (const RankedTask *task : tasks) {
    candidates += task->candidates.size();
    sources.insert(task->source);
  }
  return std::to_string(candidates) + " verdicts on " + std::to_string(tasks.size()) +
         " tasks of " + std::to_string(sources.size()) + " sources";
}

Result<std::vector<RankedTask>> all_tasks(const RecordBook &book, const KernelFacts &facts) {
  std::vector<RankedTask> tasks;
  for (const model::DeviceInfo &device : book.devices()) {
    if (device.kind != "cuda")
      continue;
    auto of_device = TRY(ranked_tasks(book, facts, device));
    std::ranges::move(of_device, std::back_inserter(tasks));
  }
  return tasks;
}

Result<void> exclude(const RankerOptions &options) {
  const auto sources = TRY(sources_in(options.exclude));
  TRY(write_atomically(options.excluded, to_text(sources)));
  std::cout << options.excluded << ": " << sources.size() << " sources\n";
  return {};
}

} // namespace

Result<void> run_ranker(const RankerOptions &options) {
  if (!options.exclude.empty())
    return exclude(options);
  const RecordBook book = TRY(read_books(options.records));
  const KernelFacts facts = TRY(facts_of(options, book));
  const std::string list =
      options.excluded.empty() ? shipped_file("excluded_sources.txt") : options.excluded;
  const ExcludedSources excluded = TRY(read_excluded_sources(list));
  std::vector<RankedTask> tasks = TRY(all_tasks(book, facts));
  const std::size_t dropped = drop_excluded(tasks, excluded);
  std::vector<const RankedTask *> training;
  for (const RankedTask &task : tasks)
    if (task.split == Split::Training)
      training.push_back(&task);
  if (training.empty())
    return fail("the records have no CUDA task of the training split",
                "Name more files with --records");
  const RankerTraining settings{.seed = options.seed};
  RankerWeights weights = train_ranker(training, settings);
  weights.trained_on = description_of(training);
  if (!options.out.empty())
    TRY(save_ranker(weights, options.out));
  std::cout << "trained on " << weights.trained_on << "; " << dropped
            << " tasks omitted as sources of benchmarks\n";
  if (options.report.empty())
    return {};
  const Sessions sessions =
      options.sessions.empty() ? Sessions{} : TRY(read_sessions(options.sessions));
  const Ranker ranker(std::move(weights));
  const MoveTable table(training);
  const nlohmann::json report =
      replay_report({tasks, ranker, table, facts.templates, sessions, settings});
  TRY(write_atomically(options.report, report.dump(1) + "\n"));
  std::cout << shown_report(report);
  return {};
}

} // namespace warpwright::trainer
