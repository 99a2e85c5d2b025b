#include "trainer/stages/versions.h"

#include "trainer/policy/reward.h"
#include "trainer/environment/walk.h"
#include "trainer/stages/each_of.h"
#include "trainer/policy/prompt.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {
namespace {

constexpr double kWorthwhile = 1.02; ///< least speedup to imitate

/// Versions of one task, one per source text with its shortest moves; sorted by length of moves.
std::vector<Exemplar> versions_of(RecordBook &book, const std::string &task,
                                  const std::string &device) {
  std::map<std::string, Exemplar> by_text;
  const TaskRecord *record = book.find(task);
  for (const auto &[moves, state] : record->states) {
    const Measured *measured = book.find_verdict(task, state.text_hash, device);
    if (!measured)
      continue;
    auto &version =
        by_text.try_emplace(state.text_hash, Exemplar{moves, *measured, {}}).first->second;
    if (moves.size() < version.moves.size())
      version.moves = moves;
  }
  std::vector<Exemplar> versions;
  for (auto &[text, version] : by_text)
    versions.push_back(std::move(version));
  std::stable_sort(versions.begin(), versions.end(), [](const Exemplar &a, const Exemplar &b) {
    return std::pair(a.moves.size(), a.moves) < std::pair(b.moves.size(), b.moves);
  });
  return versions;
}

} // namespace

Result<std::vector<TaskVersions>> task_versions(Workplace &place,
                                                const std::vector<Split> &splits) {
  const auto device = place.environment().device();
  std::vector<TrainingTask> tasks;
  if (place.measures()) { // records have no sources to measure
    tasks = TRY(place.tasks(splits));
  } else {
    tasks = place.records().with([](RecordBook &book) { return recorded_tasks(book); });
    std::erase_if(tasks, [&](const TrainingTask &task) {
      return !place.wants(task) || std::ranges::find(splits, task.split) == splits.end();
    });
  }
  std::vector<TaskVersions> result;
  for (TrainingTask &task : tasks) {
    TaskVersions versions;
    auto view = place.environment().open(task);
    if (!view)
      continue;
    versions.view = std::move(*view);
    versions.versions = place.records().with([&](RecordBook &book) {
      return versions_of(book, task.id, device ? device_key(*device) : "");
    });
    for (const Exemplar &version : versions.versions) {
      versions.best = std::max(versions.best, score_of(version.measured).value_or(0));
      versions.timed = versions.timed || version.measured.speedup;
    }
    versions.task = std::move(task);
    if (versions.best > 0 || place.measures())
      result.push_back(std::move(versions));
  }
  return result;
}

Result<std::vector<TaskVersions>> training_tasks(Workplace &place, int in_flight,
                                                 std::stop_token stop) {
  auto tasks = task_versions(place, {Split::Training});
  if (!tasks)
    return tasks;
  if (place.measures())
    each_of(tasks->size(), in_flight, [&](std::size_t i) {
      TaskVersions &task = (*tasks)[i];
      if (stop.stop_requested() || task.view.original)
        return;
      if (auto original = place.environment().measure(task.task, {}, stop))
        task.view.original = std::move(*original);
    });
  std::erase_if(*tasks, [](const TaskVersions &task) {
    return !task.view.original || task.view.original->outcome != model::Outcome::Verified;
  });
  if (tasks->empty())
    return fail("there are no recorded training tasks that can be measured",
                "Collect first: warpwright-train collect");
  return tasks;
}

std::vector<std::string> vocabulary_words(Workplace &place,
                                          const std::vector<TaskVersions> &tasks) {
  std::map<std::string, int> counts;
  place.records().with([&](RecordBook &book) {
    for (const TaskVersions &task : tasks)
      for (const auto &[moves, state] : book.find(task.task.id)->states)
        for (const std::string &move : state.legal)
          for (const std::string &word : move_words(move))
            ++counts[word];
  });
  for (const TaskVersions &task : tasks) {
    const Context context{task.task, task.view, place.environment().device(), {}, task.versions};
    for (const std::string &word : prompt_words(context, {}, {}))
      ++counts[word];
  }
  std::vector<std::string> words;
  for (const auto &[word, count] : counts)
    words.push_back(word);
  std::stable_sort(words.begin(), words.end(), [&](const std::string &a, const std::string &b) {
    return counts[a] > counts[b];
  });
  return words;
}

std::vector<std::size_t> versions_to_imitate(const TaskVersions &task, double share) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < task.versions.size(); ++i) {
    const Exemplar &version = task.versions[i];
    const double score = score_of(version.measured).value_or(0);
    if (version.moves.empty() || score <= 0)
      continue;
    const bool good =
        !task.timed || (conservative_speedup(version.measured).value_or(1) >= kWorthwhile &&
                        std::log(score) >= (1 - share) * std::log(task.best));
    if (good)
      chosen.push_back(i);
  }
  return chosen;
}

} // namespace warpwright::trainer
