// Workplace of a stage: the records, the environment and the tasks that the configuration names. Thread: main.
#pragma once

#include "trainer/config/config.h"
#include "trainer/environment/live.h"
#include "trainer/environment/recorded.h"
#include "trainer/policy/policy.h"

#include <functional>

namespace warpwright::trainer {

/// Inputs of a stage from `main`, besides the configuration.
struct Surroundings {
  std::stop_token stop;
  bool quiet = false;
  /// Creates a policy by its name (cli/policies.h).
  std::function<Result<std::unique_ptr<Policy>>(const Config &, const std::string &name,
                                                std::uint64_t seed)>
      make_policy;
};

class Workplace {
public:
  /// Errors: an unknown kind of tasks, no records, no runner; each message has a remedy.
  static Result<std::unique_ptr<Workplace>> open(const Config &config);

  Environment &environment() { return *environment_; }
  /// True if unrecorded candidates can be measured.
  bool measures() const { return live_ != nullptr; }
  Exclusive<RecordBook> &records() { return records_; }
  /// True if tasks.kinds includes the task's kind.
  bool wants(const TrainingTask &task) const;
  /// Tasks of the splits, from the suites if the place measures, else from the records. Errors: no tasks.
  Result<std::vector<TrainingTask>> tasks(const std::vector<Split> &splits) const;

private:
  explicit Workplace(const Config &config) : config_(config) {}
  Result<void> read_records();

  Config config_;
  Exclusive<RecordBook> records_;
  std::unique_ptr<LiveEnvironment> live_;
  std::unique_ptr<RecordedEnvironment> recorded_;
  Environment *environment_ = nullptr;
  std::vector<TrainingTask> recorded_tasks_;
};

} // namespace warpwright::trainer
