// The recording of one process: its distinct operations, their runs and times, and the order.
//
// Memory is bounded: a program that launches with ever new values or runs for days is recorded in
// less detail, and what was left out is counted. Identities of operations never change once they
// are made, so the writer reads them without the lock. Thread: any; one lock, held shortly, never
// during a call of the driver or of CUPTI.
#pragma once

#include "runner/capture/files/capture_files.h"

#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <unordered_map>
#include <unordered_set>
#include <variant>

namespace warpwright::capture {

/// The end of a driver call.
enum class Outcome {
  Ran,
  Captured, ///< the operation was added to a graph
  Failed,
};

/// A GPU record of a kernel, copy or fill.
struct Timed {
  std::uint32_t correlation = 0; ///< of the call that started it
  std::uint64_t graph_node = 0;  ///< 0: no part of a graph
  double ns = 0;                 ///< GPU time; 0: the record is incomplete
};

struct Limits {
  std::size_t operations = 20'000;   ///< distinct ones
  std::size_t variants = 256;        ///< distinct ones of one kernel with one grid and block
  std::size_t samples = 255;         ///< times kept for the median of an operation
  std::size_t pending = 1 << 20;     ///< calls whose GPU records have not come
  std::size_t graph_nodes = 1 << 20; ///< nodes of graphs
  std::uint64_t order_lines = 1 << 24;
};

/// One operation as it stands.
struct Snapshot {
  Id id = 0;
  const std::variant<Launch, Copy, Graph> *operation = nullptr; ///< unchanged while it is read
  Graph graph;                                                  ///< set for graphs
  Statistics statistics;
};

class Recording {
public:
  explicit Recording(Limits limits = {}) : limits_(limits) {}

  /// The id of an operation, made if it is new; nullopt: there are too many.
  std::optional<Id> find(Launch launch);
  std::optional<Id> find(Copy copy);
  /// @param number of the executable graph, unique in the process
  std::optional<Id> find_graph(std::uint64_t number);

  /// A call begins. GPU records with this correlation belong to the operation.
  void begun(Id id, std::uint32_t correlation);
  /// The call has ended.
  void ended(Id id, std::uint32_t correlation, Outcome outcome);
  /// A captured call has made a node of a graph.
  void add_node(Id id, std::uint64_t node);
  void add_cloned_node(std::uint64_t original, std::uint64_t node);

  /// Adds a run's time. @return false: no recorded call or node explains the record
  bool timed(const Timed &record);
  /// Adds the run of a kernel that nothing explains. @param launch as far as the record tells it
  void timed_unexplained(const Timed &record, const Launch &launch);

  void skip(const std::string &what, const std::string &why);

  /// All operations in the order of their ids. Valid as long as the recording.
  std::vector<Snapshot> snapshot();
  /// Lines of the order since the last call, as text.
  std::string take_order();
  Totals totals();
  std::vector<Skipped> skipped();

private:
  struct Entry {
    std::variant<Launch, Copy, Graph> operation;
    Statistics statistics;
    std::vector<float> samples_ns;
  };
  std::optional<Id> find_locked(const std::string &exact, const std::string &rough,
                                const std::function<std::variant<Launch, Copy, Graph>(bool)> &make);
  std::uint64_t number_of(std::uint64_t driver_number);
  void skip_locked(const std::string &what, const std::string &why);
  void add_run(Id id, const Timed &record);
  void add_time(Entry &entry, double ns);
  void add_to_order(Id id);
  std::optional<Id> operation_of(const Timed &record);

  const Limits limits_;
  std::mutex mutex_;
  std::deque<Entry> entries_; ///< by id
  std::unordered_map<std::string, Id> ids_;
  std::unordered_map<std::string, std::size_t> variants_; ///< count of each rough identity
  std::unordered_map<std::uint64_t, std::uint64_t> allocations_;
  std::unordered_map<std::uint32_t, Id> pending_;
  std::unordered_map<std::uint32_t, Id> graph_launches_; ///< by correlation
  std::deque<std::uint32_t> graph_launch_order_;         ///< oldest first
  std::unordered_map<std::uint64_t, Id> nodes_;
  std::vector<std::pair<Id, std::uint64_t>> order_; ///< since the last take_order()
  std::uint64_t place_ = 0, order_lines_ = 0;
  bool is_order_full_ = false;
  Totals totals_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> skipped_;
  std::minstd_rand random_;
};

} // namespace warpwright::capture
