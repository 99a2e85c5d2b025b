// Replays of recorded tasks: what a policy's order of candidates would have found, at k measured
// candidates.
//
// Every candidate of a task was measured once, so any order can be judged exactly and again. The
// best of k starts at 1, the unchanged source; a failure counts as a candidate. A share is the best
// of k over the best recorded speedup. Leaves out what nobody measured: the search's order skips
// such states at no cost, which favors it. Thread: any.
#pragma once

#include "trainer/ranker/ranker.h"
#include "trainer/ranker/recorded_tasks.h"
#include "trainer/stages/statistics.h"

#include <functional>

namespace warpwright::trainer {

inline constexpr std::size_t kReplayed[] = {1, 2, 4, 8};

/// Indices of a task's candidates in the order in which a policy would measure them.
using Order = std::vector<std::size_t>;
using OrderOf = std::function<Order(const RankedTask &)>;

/// Natural logarithm of the best speedup after k candidates of an order, for each of kReplayed.
std::vector<double> best_logs(const RankedTask &task, const Order &order);
/// The same for a random order: the mean over all orders.
std::vector<double> random_best_logs(const RankedTask &task);

/// The search's own order (generator/search/beam_policy.cpp) among the recorded states.
/// @param templates names of the moves that the search tries first
Order search_order(const RankedTask &task, const std::set<std::string> &templates);
/// By decreasing score; equal scores stay in their order.
Order order_by(const RankedTask &task,
               const std::function<double(const RecordedCandidate &)> &score);

/// Results of one policy over tasks.
struct Replay {
  std::string policy;
  std::vector<std::vector<double>> logs; ///< by task, then by kReplayed
  std::vector<double> best;              ///< by task: logarithm of the best recorded speedup
  std::vector<bool> first_verified, first_faster; ///< by task; empty for a random order
};
Replay replay(const std::string &policy, const std::vector<const RankedTask *> &tasks,
              const OrderOf &order);
Replay random_replay(const std::vector<const RankedTask *> &tasks);

/// How well scores order the candidates of a task.
struct Agreement {
  double rank_correlation = 0; ///< Spearman's, mean over tasks with at least five candidates
  double pairs = 0; ///< share of pairs over 10% apart in the right order, mean over tasks
  std::size_t tasks = 0, tasks_with_pairs = 0;
};
Agreement
agreement(const std::vector<const RankedTask *> &tasks,
          const std::function<double(const RankedTask &, const RecordedCandidate &)> &score);

} // namespace warpwright::trainer
