// Metrics of one step of reinforcement learning, for the log. Thread: one.
#pragma once

#include "trainer/network/network.h"
#include "trainer/records/record.h"

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace warpwright::trainer {

class StepMetrics {
public:
  explicit StepMetrics(std::string variant) : variant_(std::move(variant)) {}
  void add_candidate(const Moves &moves, const std::optional<Measured> &measured,
                     std::optional<double> reward);
  /// Marks the end of answering and the start of measuring.
  void answered_now() { answered_ = std::chrono::steady_clock::now(); }
  /// Marks the end of measuring and the start of learning.
  void measured_now() { measured_ = std::chrono::steady_clock::now(); }
  void add(const StepReport &report) { reports_.push_back(report); }
  /// The fields of a "step" line (run_log.h).
  nlohmann::json to_json() const;
  /// Short text for the progress bar.
  std::string note() const;

private:
  double mean_reward() const;

  std::string variant_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point answered_ = started_, measured_ = started_;
  std::vector<double> rewards_, log_speedups_;
  int candidates_ = 0, verified_ = 0;
  std::set<Moves> distinct_;
  std::map<std::string, int> techniques_; ///< counts of moves in verified, faster candidates
  std::vector<StepReport> reports_;
};

} // namespace warpwright::trainer
