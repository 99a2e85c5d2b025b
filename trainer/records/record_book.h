// File of records with an in-memory index; `collect` writes it and `--env recorded` replays it.
//
// Lines are JSON objects with one of these members. Tasks, moves and devices have numbers, in the order of their lines:
//   {"warpwright_records": 1}                      the first line: format version
//   {"task": id, "family": .., "split": "training", "language": .., "kernel": .., "hash": .., "definition": {..}}
//                                                  torch modules also have "graph": text (generator/search/graph_env.h)
//   {"move": "vectorize(width=4)"}                 the move's number is the count of such lines before
//   {"device": {..}}                               a model::DeviceInfo
//   {"state": [task, move, ...], "text": "0f3a..", "legal": [move, ...]}
//   {"verdict": [task, device], "text": "0f3a..", "outcome": "verified", "speedup": [ratio, low, high, pairs],
//    "reference": [median, low, high], "candidate": [..] (ns), ...}        unknown members are absent
// A torn last line (the writer was killed) is ignored by readers and removed when the file is opened to append. A file
// that ends in ".xz" or ".gz" is read through `xz`/`gzip` and never written. Thread: one; guard a shared book from
// outside.
#pragma once

#include "support/model/task.h"
#include "trainer/tasks/training_task.h"
#include "trainer/records/record.h"

#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace warpwright::trainer {

/// A recorded task: enough for prompts and for reports, but without its source file.
struct TaskRecord {
  std::string id, family, language, kernel;
  Split split = Split::Training;
  std::string hash;          ///< model::hash of the definition
  nlohmann::json definition; ///< model::Task as JSON, as inferred from the source
  std::string graph;         ///< op graph of a torch module as text, for prompts
  std::map<Moves, StateRecord> states;
  /// Device key -> hash of the text -> verdict; the last written verdict counts.
  std::map<std::string, std::map<std::string, Measured>> verdicts;
};

class RecordBook {
public:
  /// An empty book in memory only.
  RecordBook();
  /// Reads a file. Errors: an unreadable file, another format version, an invalid line (with its number).
  static Result<RecordBook> read(const std::string &path);
  /// Reads a file, or creates it, and appends later additions. Errors: as read(); a packed file; one that cannot be
  /// written.
  static Result<RecordBook> append_to(const std::string &path);

  const std::map<std::string, TaskRecord> &tasks() const { return tasks_; }
  const TaskRecord *find(const std::string &task) const;
  const StateRecord *find_state(const std::string &task, const Moves &moves) const;
  /// @param device key of a device; empty: the first device, by name, that has a verdict
  const Measured *find_verdict(const std::string &task, const std::string &text_hash,
                               const std::string &device = {}) const;
  /// The task's largest speedup on this device that a fresh worker confirmed; nullopt: none.
  std::optional<double> confirmed_speedup(const std::string &task, const std::string &device) const;
  const std::vector<model::DeviceInfo> &devices() const { return devices_; }

  /// Each of these functions appends its line and flushes the file; a known record is not written again.
  /// Errors: a full disk or a lost file, with the path; an unknown task or device; a task with another definition.
  Result<void> add_task(const TrainingTask &task, const nlohmann::json &definition,
                        const std::string &hash, const std::string &graph = {});
  Result<void> add_device(const model::DeviceInfo &device);
  Result<void> add_state(const std::string &task, const StateRecord &state);
  Result<void> add_verdict(const std::string &task, const std::string &text_hash,
                           const Measured &measured);

  /// Adds all records of another book. Errors: as add_task() and add_state().
  Result<void> add(const RecordBook &other);

private:
  Result<void> load(const std::string &text);
  Result<void> take_line(const nlohmann::json &line);
  Result<void> write_line(const nlohmann::json &line);
  Result<int> move_number(const std::string &move);
  Result<nlohmann::json> move_numbers(const Moves &moves);
  Moves moves_of(const nlohmann::json &numbers, std::size_t first) const;

  std::string path_; ///< empty: only in memory
  std::unique_ptr<std::ofstream> file_;
  std::map<std::string, TaskRecord> tasks_;
  std::vector<std::string> task_order_, moves_;
  std::map<std::string, int> task_numbers_, move_numbers_;
  std::vector<model::DeviceInfo> devices_;
};

/// The tasks of a book as training tasks without sources, which is enough for a recorded environment.
std::vector<TrainingTask> recorded_tasks(const RecordBook &book);

/// Name of a split: "training", "validation", "held-out".
std::string_view name(Split split);
/// Parses the name of a split. Errors: another word.
Result<Split> split_from(const std::string &name);

} // namespace warpwright::trainer
