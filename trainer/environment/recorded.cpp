// Environment over a record book.
#include "trainer/environment/recorded.h"

namespace warpwright::trainer {

RecordedEnvironment::RecordedEnvironment(Exclusive<RecordBook> &records, std::string device,
                                         Environment *behind, Masks masks)
    : records_(records), device_(std::move(device)), behind_(behind), masks_(masks) {}

std::optional<Measured> RecordedEnvironment::find(const TrainingTask &task, const Moves &moves) {
  return records_.with([&](RecordBook &book) -> std::optional<Measured> {
    const StateRecord *state = book.find_state(task.id, moves);
    const Measured *found = state ? book.find_verdict(task.id, state->text_hash, device_) : nullptr;
    return found ? std::optional(*found) : std::nullopt;
  });
}

std::set<Moves> RecordedEnvironment::useful_states(const std::string &task) {
  return useful_.with([&](auto &useful) {
    const auto known = useful.find(task);
    if (known != useful.end())
      return known->second;
    std::set<Moves> states{Moves{}};
    records_.with([&](RecordBook &book) {
      const TaskRecord *record = book.find(task);
      if (!record)
        return;
      for (const auto &[moves, state] : record->states)
        if (book.find_verdict(task, state.text_hash, device_))
          for (std::size_t length = 0; length <= moves.size(); ++length)
            states.insert(Moves(moves.begin(), moves.begin() + std::ptrdiff_t(length)));
    });
    return useful[task] = states;
  });
}

Result<TaskView> RecordedEnvironment::open(const TrainingTask &task) {
  auto view = records_.with([&](RecordBook &book) -> std::optional<TaskView> {
    const TaskRecord *record = book.find(task.id);
    return record ? std::optional(
                        TaskView{task.id, record->family, record->definition, {}, record->graph})
                  : std::nullopt;
  });
  if (!view && behind_)
    return behind_->open(task);
  if (!view)
    return fail("task " + task.id + " is not recorded",
                "Collect it, or set environment.measure_misses where a runner is there");
  view->original = find(task, {});
  return *view;
}

Result<StateRecord> RecordedEnvironment::state(const TrainingTask &task, const Moves &moves) {
  if (behind_)
    return behind_->state(task, moves);
  auto state = records_.with([&](RecordBook &book) -> std::optional<StateRecord> {
    const StateRecord *found = book.find_state(task.id, moves);
    return found ? std::optional(*found) : std::nullopt;
  });
  if (!state)
    return fail("a state of " + task.id + " is not recorded",
                "Collect more, or set environment.measure_misses where a runner is there");
  if (masks_ == Masks::Whole)
    return *state;
  const std::set<Moves> useful = useful_states(task.id);
  std::erase_if(state->legal, [&](const std::string &move) {
    Moves next = moves;
    next.push_back(move);
    return !useful.contains(next);
  });
  return *state;
}

bool RecordedEnvironment::can_measure(const TrainingTask &task, const Moves &moves) {
  return behind_ || find(task, moves);
}

Result<Measured> RecordedEnvironment::measure(const TrainingTask &task, const Moves &moves,
                                              std::stop_token stop) {
  if (const auto known = find(task, moves))
    return *known;
  if (behind_)
    return behind_->measure(task, moves, stop);
  return fail("no verdict on this state of " + task.id + " is recorded",
              "Collect more, or set environment.measure_misses where a runner is there");
}

Result<Measured> RecordedEnvironment::confirm(const TrainingTask &task, const Moves &moves,
                                              std::stop_token stop) {
  return behind_ && !find(task, moves) ? behind_->confirm(task, moves, stop)
                                       : measure(task, moves, stop);
}

Result<Measured> RecordedEnvironment::measure_plan(const TrainingTask &task,
                                                   const model::Plan &plan, std::stop_token stop) {
  if (behind_)
    return behind_->measure_plan(task, plan, stop);
  return fail("plans of " + task.id + " are not recorded", "Use --env live with a runner");
}

std::optional<model::DeviceInfo> RecordedEnvironment::device() {
  return records_.with([&](RecordBook &book) -> std::optional<model::DeviceInfo> {
    for (const model::DeviceInfo &device : book.devices())
      if (device_.empty() || device_key(device) == device_)
        return device;
    return std::nullopt;
  });
}

} // namespace warpwright::trainer
