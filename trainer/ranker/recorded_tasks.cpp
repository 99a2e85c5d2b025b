#include "trainer/ranker/recorded_tasks.h"

#include "support/hash.h"
#include "support/model/json.h"
#include "trainer/policy/policy.h"
#include "trainer/ranker/source_shape.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {
namespace {

/// The shortest list of moves to each text, in the order of the states.
std::map<std::string, const Moves *> shortest_lists(const TaskRecord &task) {
  std::map<std::string, const Moves *> lists;
  for (const auto &[moves, state] : task.states) {
    const Moves *&kept = lists[state.text_hash];
    if (!kept || moves.size() < kept->size())
      kept = &moves;
  }
  return lists;
}

void add_candidates(RankedTask &ranked, const TaskRecord &task, const std::string &device) {
  const auto verdicts = task.verdicts.find(device);
  if (verdicts == task.verdicts.end())
    return;
  const auto lists = shortest_lists(task);
  for (const auto &[text, measured] : verdicts->second) {
    const auto list = lists.find(text);
    const auto score = score_of(measured);
    if (list == lists.end() || list->second->empty() || !score)
      continue;
    ranked.candidates.push_back(
        {*list->second, text, measured, *score, *score > 0 ? std::log(*score) : kFailedLog});
    ranked.best = std::max(ranked.best, *score);
  }
}

} // namespace

Result<std::vector<RankedTask>> ranked_tasks(const RecordBook &book, const KernelFacts &facts,
                                             const model::DeviceInfo &device) {
  std::vector<RankedTask> tasks;
  for (const auto &[id, task] : book.tasks()) {
    if (task.language == kTorchLanguage)
      continue;
    RankedTask ranked{.id = id, .family = task.family, .split = task.split};
    add_candidates(ranked, task, device_key(device));
    if (ranked.candidates.empty())
      continue;
    const auto definition = model::task_from_json(task.definition);
    if (!definition)
      return fail(id + ": " + definition.error().message, definition.error().remedy);
    const auto kernel = facts.kernels.find(sha256_hex(definition->reference.source));
    if (kernel == facts.kernels.end())
      return fail("the facts of " + id + "'s kernel are missing",
                  "Make the file again: warpwright-train ranker --kernel-facts FILE");
    ranked.source = source_shape(definition->reference.source, false);
    ranked.facts = task_facts(*definition, kernel->second, device);
    ranked.states = task.states;
    tasks.push_back(std::move(ranked));
  }
  return tasks;
}

} // namespace warpwright::trainer
