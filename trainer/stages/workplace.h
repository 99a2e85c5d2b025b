// What every stage starts from: records, the environment, and the tasks, as the configuration asks for them. Thread: main.
#pragma once

#include "trainer/config/config.h"
#include "trainer/environment/live.h"
#include "trainer/environment/recorded.h"
#include "trainer/policy/policy.h"

#include <functional>

namespace warpwright::trainer {

/// What a stage gets from `main` besides its configuration.
struct Surroundings {
  std::stop_token stop;
  bool quiet = false;
  /// A policy by its name: "random", "evolve", "dense", "builtin", "builtin:WEIGHTS", "endpoint:URL".
  std::function<Result<std::unique_ptr<Policy>>(const Config &, const std::string &name,
                                                std::uint64_t seed)>
      make_policy;
};

class Workplace {
public:
  /// Errors: no records, no runner, no tasks; each says what to do.
  static Result<std::unique_ptr<Workplace>> open(const Config &config);

  Environment &environment() { return *environment_; }
  /// Whether what is not recorded can be measured.
  bool measures() const { return live_ != nullptr; }
  Exclusive<RecordBook> &records() { return records_; }
  /// Whether tasks.kinds asks for such tasks.
  bool wants(const TrainingTask &task) const;
  /// Of the wanted splits; in live environments of the suites, else those recorded.
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
