// The environment that replays: reproducible, in no time, on any CPU.
//
// A state's legal moves are those that lead to recorded states with a verdict, or on towards one, so a policy that keeps to
// them never misses. What does miss is asked of the environment behind, where there is one. Thread: any.
#pragma once

#include "support/exclusive.h"
#include "trainer/environment/environment.h"

#include <set>

namespace warpwright::trainer {

class RecordedEnvironment final : public Environment {
public:
  /// @param records outlives this, and holds the device's verdicts
  /// @param device as in RecordBook::find_verdict
  /// Which legal moves a state has: those that lead to what was measured, or all that were legal, for answers that are known.
  enum class Masks { Measured, Whole };

  /// @param behind measures misses; null: they are refused
  RecordedEnvironment(Exclusive<RecordBook> &records, std::string device,
                      Environment *behind = nullptr, Masks masks = Masks::Measured);

  std::string_view name() const override { return "recorded"; }
  Result<TaskView> open(const TrainingTask &task) override;
  Result<StateRecord> state(const TrainingTask &task, const Moves &moves) override;
  bool can_measure(const TrainingTask &task, const Moves &moves) override;
  Result<Measured> measure(const TrainingTask &task, const Moves &moves,
                           std::stop_token stop) override;
  Result<Measured> confirm(const TrainingTask &task, const Moves &moves,
                           std::stop_token stop) override;
  Result<Measured> measure_plan(const TrainingTask &task, const model::Plan &plan,
                                std::stop_token stop) override;
  std::optional<model::DeviceInfo> device() override;

private:
  std::optional<Measured> find(const TrainingTask &task, const Moves &moves);
  /// States that have a verdict, and all on the way to one.
  std::set<Moves> useful_states(const std::string &task);

  Exclusive<RecordBook> &records_;
  std::string device_;
  Environment *behind_;
  Masks masks_;
  Exclusive<std::map<std::string, std::set<Moves>>> useful_; ///< by task
};

} // namespace warpwright::trainer
