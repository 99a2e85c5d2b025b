// Environment that replays a record book: reproducible and fast on any CPU.
//
// Legal moves are those that lead to recorded states with a verdict, or towards one, so a policy that follows them
// never misses. Other states are asked of the environment behind, if there is one. Thread: any.
#pragma once

#include "support/exclusive.h"
#include "trainer/environment/environment.h"

#include <set>

namespace warpwright::trainer {

class RecordedEnvironment final : public Environment {
public:
  /// Legal moves of a state: only those that lead to measured states, or all, for answers that are known.
  enum class Masks { Measured, Whole };

  /// @param records outlives this, and holds the verdicts of `device` @param device as in RecordBook::find_verdict
  /// @param behind measures misses; null: misses are refused
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
  Result<model::Verdict> verify(const TrainingTask &task, const model::Plan &plan, bool host_code,
                                std::stop_token stop) override {
    return behind_ ? behind_->verify(task, plan, host_code, stop)
                   : Environment::verify(task, plan, host_code, stop);
  }
  std::optional<model::DeviceInfo> device() override;

private:
  std::optional<Measured> find(const TrainingTask &task, const Moves &moves);
  /// States with a verdict, and the states on the way to them.
  std::set<Moves> useful_states(const std::string &task);

  Exclusive<RecordBook> &records_;
  std::string device_;
  Environment *behind_;
  Masks masks_;
  Exclusive<std::map<std::string, std::set<Moves>>> useful_; ///< by task
};

} // namespace warpwright::trainer
