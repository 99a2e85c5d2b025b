// Parts that all episodes of a service share. Thread: any, each by its own rules.
#pragma once

#include "trainer/config/config.h"
#include "trainer/environment/environment.h"
#include "trainer/policy/reward.h"
#include "trainer/serve/exemplar_store.h"
#include "trainer/serve/trajectory.h"

namespace warpwright::trainer {

/// The tasks that a service offers, by their ids.
class TaskSet {
public:
  explicit TaskSet(std::vector<TrainingTask> tasks) : tasks_(std::move(tasks)) {
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      places_[tasks_[i].id] = i;
  }
  const std::vector<TrainingTask> &all() const { return tasks_; }
  /// Null: no such task.
  const TrainingTask *find(const std::string &id) const {
    const auto found = places_.find(id);
    return found == places_.end() ? nullptr : &tasks_[found->second];
  }

private:
  std::vector<TrainingTask> tasks_;
  std::map<std::string, std::size_t> places_;
};

struct Place {
  Environment &environment;
  const TaskSet &tasks;
  ExemplarStore &exemplars;
  TrajectoryLog &log;
  const ServeConfig &config;
  RewardRule rule = RewardRule::Speedup;
  std::stop_token stop;
};

} // namespace warpwright::trainer
