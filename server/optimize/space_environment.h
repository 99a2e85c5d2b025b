// Environment for the trainer's proposer over the states of a search; it never measures.
#pragma once

#include "generator/search/space.h"
#include "trainer/environment/environment.h"

namespace warpwright::server {

class SpaceEnvironment final : public trainer::Environment {
public:
  /// @param space outlives this
  /// @param definition the task as JSON
  /// @param graph text of a torch module's op graph; empty: the task is a kernel
  SpaceEnvironment(search::Space &space, nlohmann::json definition, Result<std::string> graph,
                   std::optional<model::DeviceInfo> device)
      : space_(space), definition_(std::move(definition)), graph_(std::move(graph)),
        device_(std::move(device)) {}

  std::string_view name() const override { return "search"; }
  Result<trainer::TaskView> open(const trainer::TrainingTask &task) override {
    if (!graph_)
      return std::unexpected(graph_.error());
    return trainer::TaskView{task.id, task.family, definition_, std::nullopt, *graph_};
  }
  Result<trainer::StateRecord> state(const trainer::TrainingTask &,
                                     const trainer::Moves &moves) override {
    auto legal = space_.legal(moves);
    if (!legal)
      return std::unexpected(legal.error());
    return trainer::StateRecord{moves, {}, std::move(*legal)};
  }
  bool can_measure(const trainer::TrainingTask &, const trainer::Moves &moves) override {
    return space_.is_candidate(moves);
  }
  Result<trainer::Measured> measure(const trainer::TrainingTask &, const trainer::Moves &,
                                    std::stop_token) override {
    return nothing_measured();
  }
  Result<trainer::Measured> confirm(const trainer::TrainingTask &, const trainer::Moves &,
                                    std::stop_token) override {
    return nothing_measured();
  }
  Result<trainer::Measured> measure_plan(const trainer::TrainingTask &, const model::Plan &,
                                         std::stop_token) override {
    return nothing_measured();
  }
  std::optional<model::DeviceInfo> device() override { return device_; }

private:
  static std::unexpected<Error> nothing_measured() {
    return fail("this space has no measurements");
  }

  search::Space &space_;
  nlohmann::json definition_;
  Result<std::string> graph_;
  std::optional<model::DeviceInfo> device_;
};

} // namespace warpwright::server
