// Environment that measures CUDA kernels and torch modules: states from `warpwright env`, verdicts from a runner, all
// recorded.
//
// Thread: any. Two threads that ask for the same verdict at once both measure it; the later result is kept.
#pragma once

#include "runner/connect/connect.h"
#include "support/exclusive.h"
#include "trainer/config/config.h"
#include "trainer/environment/env_line.h"
#include "trainer/environment/environment.h"
#include "trainer/environment/module_states.h"

namespace warpwright::trainer {

class LiveEnvironment final : public Environment {
public:
  /// Connects to the runner and starts `warpwright env`.
  /// @param records outlives this. Errors: no runner, no such device, no warpwright.
  static Result<std::unique_ptr<LiveEnvironment>> connect(const EnvironmentConfig &config,
                                                          Exclusive<RecordBook> &records);

  /// Creates an environment for proposals to another measurer; it refuses to give verdicts. Errors: no warpwright.
  static Result<std::unique_ptr<LiveEnvironment>>
  without_runner(const EnvironmentConfig &config, Exclusive<RecordBook> &records,
                 std::optional<model::DeviceInfo> device);

  std::string_view name() const override { return "live"; }
  Result<TaskView> open(const TrainingTask &task) override;
  Result<StateRecord> state(const TrainingTask &task, const Moves &moves) override;
  bool can_measure(const TrainingTask &, const Moves &) override { return true; }
  Result<Measured> measure(const TrainingTask &task, const Moves &moves,
                           std::stop_token stop) override;
  Result<Measured> confirm(const TrainingTask &task, const Moves &moves,
                           std::stop_token stop) override;
  Result<Measured> measure_plan(const TrainingTask &task, const model::Plan &plan,
                                std::stop_token stop) override;
  Result<model::Verdict> verify(const TrainingTask &task, const model::Plan &plan, bool host_code,
                                std::stop_token stop) override;
  Result<Measured> judge(const model::Task &task, const model::Plan &plan,
                         std::chrono::milliseconds timeout) override;
  Result<nlohmann::json> plan(const TrainingTask &task, const Moves &moves) override;
  std::optional<model::DeviceInfo> device() override { return device_; }

private:
  LiveEnvironment(const EnvironmentConfig &config, Exclusive<RecordBook> &records)
      : config_(config), records_(records) {}
  Result<void> choose_device();
  Result<std::string> text_of(const TrainingTask &task, const Moves &moves);
  nlohmann::json env_state(const TrainingTask &task, const Moves &moves, const std::string &text);
  runner::VerifyOptions options_for(std::chrono::milliseconds timeout) const;
  Result<model::Task> definition_of(const TrainingTask &task);
  Result<Measured> ask_runner(const TrainingTask &task, const StateRecord &state,
                              std::optional<double> best_known, std::stop_token stop);
  std::optional<double> confirmed_speedup(const TrainingTask &task);
  /// States of CUDA sources; those of modules come from modules_.
  Result<StateRecord> source_state(const TrainingTask &task, const Moves &moves);

  EnvironmentConfig config_;
  Exclusive<RecordBook> &records_;
  std::unique_ptr<EnvLine> env_;
  std::unique_ptr<runner::BlockingClient> runner_;
  std::optional<model::DeviceInfo> device_;
  std::unique_ptr<ModuleStates> modules_;
  /// Texts of states by "task id\nmove\nmove", so that each move is applied once.
  Exclusive<std::map<std::string, std::string>> texts_;
};

} // namespace warpwright::trainer
