// The file of records, and an index of it in memory: what `collect` writes and `--env recorded` replays.
//
// Lines are JSON objects with one of these members, strings interned by the order of their lines:
//   {"warpwright_records": 1}                      the first line: format version
//   {"task": id, "family": .., "split": "training", "language": .., "kernel": .., "hash": .., "definition": {..}}
//                                                  of torch modules also "graph": text, as generator/search/graph_env.h has it
//   {"move": "vectorize(width=4)"}                 move number = count of such lines before
//   {"device": {..}}                               as model::DeviceInfo
//   {"state": [task, move, ...], "text": "0f3a..", "legal": [move, ...]}
//   {"verdict": [task, device], "text": "0f3a..", "outcome": "verified", "speedup": [ratio, low, high, pairs],
//    "reference": [median, low, high], "candidate": [..] (ns), ...}        members that are not known are absent
// A torn last line (the writer was killed) is dropped when the file is opened to append. A file that ends in ".xz" or
// ".gz" is read through `xz`/`gzip` and never written. Thread: one; guard a shared book from outside.
#pragma once

#include "support/model/task.h"
#include "trainer/tasks/training_task.h"
#include "trainer/records/record.h"

#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace warpwright::trainer {

/// A task as the records know it: enough for prompts and for reports, without its source's includes.
struct TaskRecord {
  std::string id, family, language, kernel;
  Split split = Split::Training;
  std::string hash;          ///< model::hash of the definition
  nlohmann::json definition; ///< model::Task as JSON, as inferred from the source
  std::string graph;         ///< of torch modules: text, for prompts
  std::map<Moves, StateRecord> states;
  /// Device name -> hash of the text -> verdict; the last one written counts.
  std::map<std::string, std::map<std::string, Measured>> verdicts;
};

class RecordBook {
public:
  /// In memory only.
  RecordBook();
  /// Reads what is there. Errors: not readable, another format version, a line that is no record (with its number).
  static Result<RecordBook> read(const std::string &path);
  /// The same, then appends to the file; creates it.
  static Result<RecordBook> append_to(const std::string &path);

  const std::map<std::string, TaskRecord> &tasks() const { return tasks_; }
  const TaskRecord *find(const std::string &task) const;
  const StateRecord *find_state(const std::string &task, const Moves &moves) const;
  /// @param device empty: of any device, the first by name
  const Measured *find_verdict(const std::string &task, const std::string &text_hash,
                               const std::string &device = {}) const;
  /// The largest speedup of the task that a fresh worker confirmed on this device; nullopt: none.
  std::optional<double> confirmed_speedup(const std::string &task, const std::string &device) const;
  const std::vector<model::DeviceInfo> &devices() const { return devices_; }

  /// Each appends its line and flushes it; adding what is there already does nothing.
  /// Errors: a full disk or a lost file, with the path; an unknown task.
  Result<void> add_task(const TrainingTask &task, const nlohmann::json &definition,
                        const std::string &hash, const std::string &graph = {});
  Result<void> add_device(const model::DeviceInfo &device);
  Result<void> add_state(const std::string &task, const StateRecord &state);
  Result<void> add_verdict(const std::string &task, const std::string &text_hash,
                           const Measured &measured);

  /// Adds all of another book. Errors: as the above.
  Result<void> add(const RecordBook &other);

private:
  Result<void> load(const std::string &text);
  Result<void> take_line(const nlohmann::json &line);
  Result<void> write_line(const nlohmann::json &line);
  Result<int> move_number(const std::string &move);
  Result<nlohmann::json> move_numbers(const Moves &moves);
  Moves moves_of(const nlohmann::json &numbers, std::size_t first) const;

  std::string path_; ///< empty: in memory
  std::unique_ptr<std::ofstream> file_;
  std::map<std::string, TaskRecord> tasks_;
  std::vector<std::string> task_order_, moves_;
  std::map<std::string, int> task_numbers_, move_numbers_;
  std::vector<model::DeviceInfo> devices_;
};

/// The tasks of a book as training tasks, without their sources: enough for a recorded environment.
std::vector<TrainingTask> recorded_tasks(const RecordBook &book);

/// "training", "validation", "held-out".
std::string_view name(Split split);
/// Errors: another word.
Result<Split> split_from(const std::string &name);

} // namespace warpwright::trainer
