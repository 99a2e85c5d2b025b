// Candidates of one search: lists of moves found by a beam along the ranker's order, handed out one
// at a time.
//
// At first all single moves are scored, and the moves after the best of them. Each time a candidate
// is asked for, the fastest one so far and a few of the best unmeasured ones are followed further.
// Candidates that contain a list that failed are dropped: a move does not repair a wrong result.
// Leaves out: applying moves. Thread: one.
#pragma once

#include "trainer/ranker/choose.h"

#include <functional>

namespace warpwright::trainer {

class CandidatePool {
public:
  /// The moves that may follow a list. Errors: the list leads to no state, and is then not
  /// followed.
  using Legal = std::function<Result<Moves>(const Moves &)>;
  struct Tried {
    Moves moves;
    std::optional<double> log_speedup; ///< nullopt: a failure; 0: verified and not timed
  };

  /// @param ranker outlives this
  /// @param known verdicts of earlier searches of this task on this GPU; they replace predictions
  CandidatePool(const Ranker &ranker, TaskFacts task, Correction correction, Legal legal,
                const std::vector<Tried> &known = {});

  /// The next candidate; nullopt: none is left. Each list, in any order of its moves, comes once.
  std::optional<Moves> next(const std::vector<Tried> &tried);
  /// What was expected of a candidate that next() returned.
  std::optional<Prediction> expected(const Moves &moves) const;

private:
  struct Entry {
    Moves moves;
    double order = 0;
    std::optional<Prediction> prediction;
    bool is_expanded = false, is_taken = false;
  };

  void begin();
  void expand(std::size_t entry);
  void expand_best(std::size_t count, std::size_t longest);
  const Prediction &prediction_of(Entry &entry);
  /// Adds the first entry of each move that the records do not have: the order says nothing of it.
  void add_new_moves(const std::vector<std::size_t> &sorted, std::vector<std::size_t> &looked_at) const;

  const Ranker &ranker_;
  Ranker::Rows rows_;
  Correction correction_;
  Legal legal_;
  std::map<Moves, std::optional<double>> known_; ///< by sorted moves
  std::vector<Entry> entries_;                   ///< the unchanged source first
  std::map<Moves, std::size_t> places_;          ///< by sorted moves
};

} // namespace warpwright::trainer
