// Features of a candidate by name: its task, its kernel's source, its moves, the compiler's report
// and the device.
//
// A feature is a number with a name; one that is not known is absent, which trees take as a value
// of its own. Names are part of the weights file, so that a program with other features refuses the
// file. Sizes enter as logarithms and as the power of two that divides them. Features of moves are
// made from their texts: "move.vectorize" is the move's place in the list, "vectorize.width" its
// parameter. So a new move needs no line here, only records. Leaves out: all that needs Clang;
// those numbers come with the task (generator/search/kernel_numbers.h). Thread: values, any.
#pragma once

#include "support/model/task.h"
#include "support/model/verdict.h"
#include "trainer/ranker/trees.h"
#include "trainer/records/record.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warpwright::trainer {

/// Numbers by name; names do not repeat.
using NamedNumbers = std::vector<std::pair<std::string, float>>;
/// Facts of a kernel's code from its analysis, by name (generator/search/kernel_numbers.h).
using KernelNumbers = std::map<std::string, double>;

/// Features that all candidates of a task share.
struct TaskFacts {
  NamedNumbers numbers;
  std::string device;                                     ///< name of the GPU; empty: not known
  std::array<double, 3> block{1, 1, 1}, grid{1, 1, 1};    ///< of the reference's first launch
  std::vector<std::int64_t> sizes;                        ///< descending
  double multiprocessors = 0, threads_multiprocessor = 0; ///< 0: not known
};

/// @param kernel empty: the analysis is not at hand @param device nullopt: not known
TaskFacts task_facts(const model::Task &task, const KernelNumbers &kernel,
                     const std::optional<model::DeviceInfo> &device);

/// The compiler's report on a candidate.
struct CompileFacts {
  std::optional<int> registers;
  std::optional<std::int64_t> shared_bytes, spill_bytes;
  std::optional<double> occupancy;
};
/// The report of a recorded verdict.
CompileFacts compile_facts(const Measured &measured);

/// Features of the moves alone, with what they make of the launch. @param compiled nullptr: not compiled yet
NamedNumbers candidate_numbers(const TaskFacts &task, const Moves &moves,
                               const CompileFacts *compiled);

/// The order of the features in a row.
class FeatureColumns {
public:
  FeatureColumns() = default;
  explicit FeatureColumns(std::vector<std::string> names);

  const std::vector<std::string> &names() const { return names_; }
  std::size_t size() const { return names_.size(); }
  /// Sets the row's known features; names without a column are left out.
  void fill(const NamedNumbers &numbers, std::span<float> row) const;
  bool contains(const std::string &name) const { return columns_.contains(name); }

private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> columns_;
};

/// Name of a move and its parameters: "vectorize", {"width", "4"}.
struct MoveText {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> parameters;
};
MoveText parsed_move(std::string_view move);

} // namespace warpwright::trainer
