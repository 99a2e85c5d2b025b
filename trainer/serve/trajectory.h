// Log of a service's steps as JSON lines, and its reader. Each line stands alone:
//
//   {"warpwright_trajectory": 1, "time", "version", "client", "episode", "turn", "turns", "done",
//    "task", "family", "language", "split", "prompt_hash", "request_id", "usage", "measured",
//    "messages": [{"role", "content"}], "action": {..}, "content", "moves" or "plan",
//    "refused": {"kind", "reason"}, "failed_check", "verdict": {..}, "reward", "reward_rule",
//    "reward_version", "host_code", "hashes": {"task", "plan", "source"}, "device", "driver"}
//
// `messages` is the prompt and `content` the model's answer. `verdict` is the recorded part
// (records/measured_json.h). `hashes.source` is the shape of the task's source
// (ranker/source_shape.h), by which benchmarks are excluded. Unknown members are absent; a reward
// that says nothing is absent. Thread: any.
#pragma once

#include "support/exclusive.h"
#include "trainer/records/record.h"

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

namespace warpwright::trainer {

class TrajectoryLog {
public:
  /// Opens `folder`/trajectories.jsonl to append. Errors: a folder that cannot be made; a file that cannot be written.
  Result<void> open(const std::string &folder);
  /// Adds a line, with its format, time and version. Errors: a full disk.
  Result<void> write(nlohmann::json line);
  const std::string &path() const { return path_; }

private:
  std::string path_;
  Exclusive<std::ofstream> file_;
};

/// Calls `take` with each line of a file, which may be packed (.xz, .gz). A torn last line is left out.
/// Errors: an unreadable file; a line that is no trajectory, with its number.
Result<void> read_trajectories(const std::string &path,
                               const std::function<void(const nlohmann::json &)> &take);

} // namespace warpwright::trainer
