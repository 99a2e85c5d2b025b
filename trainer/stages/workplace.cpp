#include "trainer/stages/workplace.h"

#include "trainer/tasks/task_sources.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

bool wanted(const std::vector<std::string> &names, const std::string &name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

bool wanted_kind(const TasksConfig &tasks, const TrainingTask &task) {
  return wanted(tasks.kinds, task.language == kTorchLanguage ? "torch" : "cuda");
}

Result<std::vector<TrainingTask>> drawn_tasks(const Config &config, Split split) {
  TaskChoice choice;
  choice.sources = config.tasks.suites;
  choice.split = split;
  choice.variations = config.tasks.shapes;
  choice.seed = config.run.seed;
  auto chosen = TRY(choose_tasks(choice));
  std::erase_if(chosen.tasks, [&](const TrainingTask &task) {
    return !wanted_kind(config.tasks, task) || !wanted(config.tasks.families, task.family);
  });
  return std::move(chosen.tasks);
}

/// Orders tasks so that the first of each family comes before the second of any family, and so on.
void spread_over_families(std::vector<TrainingTask> &tasks) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::pair<std::size_t, TrainingTask>> ranked;
  for (TrainingTask &task : tasks) {
    const std::size_t rank = seen[task.family]++;
    ranked.emplace_back(rank, std::move(task));
  }
  std::sort(ranked.begin(), ranked.end(), [](const auto &a, const auto &b) {
    return std::tie(a.first, a.second.family, a.second.id) <
           std::tie(b.first, b.second.family, b.second.id);
  });
  tasks.clear();
  for (auto &[rank, task] : ranked)
    tasks.push_back(std::move(task));
}

} // namespace

Result<void> Workplace::read_records() {
  const auto &files = config_.environment.records;
  const bool appends = config_.environment.mode == "live" || config_.environment.measure_misses;
  if (files.empty() && !appends)
    return fail("environment.records names no file to replay",
                "Collect first, or set environment.mode = \"live\"");
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto book =
        TRY(appends && i == 0 ? RecordBook::append_to(files[i]) : RecordBook::read(files[i]));
    auto taken = records_.with([&](RecordBook &all) -> Result<void> {
      if (i > 0)
        return all.add(book);
      all = std::move(book);
      return {};
    });
    if (!taken)
      return taken;
  }
  recorded_tasks_ = records_.with([](RecordBook &book) { return recorded_tasks(book); });
  return {};
}

Result<std::unique_ptr<Workplace>> Workplace::open(const Config &config) {
  for (const std::string &kind : config.tasks.kinds)
    if (kind != "cuda" && kind != "torch")
      return fail("tasks.kinds has \"" + kind + "\"", "There are \"cuda\" and \"torch\"");
  std::unique_ptr<Workplace> place(new Workplace(config));
  TRY(place->read_records());
  const EnvironmentConfig &environment = config.environment;
  if (environment.mode == "live" || environment.measure_misses) {
    place->live_ = TRY(LiveEnvironment::connect(environment, place->records_));
    place->environment_ = place->live_.get();
  }
  if (environment.mode == "recorded") {
    const std::string device = place->live_ ? device_key(*place->live_->device()) : "";
    place->recorded_ =
        std::make_unique<RecordedEnvironment>(place->records_, device, place->live_.get());
    place->environment_ = place->recorded_.get();
  }
  return place;
}

bool Workplace::wants(const TrainingTask &task) const { return wanted_kind(config_.tasks, task); }

Result<std::vector<TrainingTask>> Workplace::tasks(const std::vector<Split> &splits) const {
  std::vector<TrainingTask> tasks;
  for (const Split split : splits) {
    std::vector<TrainingTask> part;
    if (live_) {
      part = TRY(drawn_tasks(config_, split));
    } else {
      for (const TrainingTask &task : recorded_tasks_)
        if (task.split == split && wants(task) && wanted(config_.tasks.families, task.family))
          part.push_back(task);
    }
    spread_over_families(part);
    if (config_.tasks.at_most > 0 && part.size() > std::size_t(config_.tasks.at_most))
      part.resize(std::size_t(config_.tasks.at_most));
    std::ranges::move(part, std::back_inserter(tasks));
  }
  if (tasks.empty())
    return fail("there is no task to work on", live_ ? "Look at tasks.families and tasks.suites"
                                                     : "The records hold none of these splits");
  return tasks;
}

} // namespace warpwright::trainer
