// The learned cost model: predicts which candidates of a task are fast, and whether they verify,
// without running them.
//
// Three kinds of forests (boosting.h) over the features of features.h. One orders the candidates of
// a task. Several predict the logarithm of the speedup, each trained on other sources, so that
// their spread says how little is known. One predicts whether a candidate verifies. The expected
// speedup is a mixture of the first two kinds; its weights, and the factor that makes an interval
// of the spread, come from sources that the forests did not see. A candidate with a move, a pair of
// moves or a GPU that the records do not have is "unsupported": its interval is wider, and choose.h
// takes few such candidates. The weights are a file (ranker_file.h), trained by `warpwright-train
// ranker`. Thread: any; predictions do not change the object.
#pragma once

#include "trainer/ranker/features.h"

#include <set>

namespace warpwright::trainer {

/// What a ranker expects of one candidate.
struct Prediction {
  double order = 0; ///< larger is better; comparable only within a task; 0: the unchanged source
  double log_speedup = 0; ///< expected natural logarithm of reference time / candidate time
  double half_width = 0;  ///< of log_speedup's interval, which holds 90% of new sources
  double verifies = 1;    ///< probability
  bool supported = true;
};

/// Pairs of names of moves that records have, and single names twice: {"coarsen", "unroll"}.
using MovePairs = std::set<std::pair<std::string, std::string>>;
MovePairs pairs_of(const Moves &moves);

struct RankerWeights {
  std::vector<std::string> features;
  Forest order, failure;
  std::vector<Forest> speedup;
  double order_slope = 0,
         mean_slope = 1; ///< log_speedup = order_slope * order + mean_slope * mean of `speedup`
  double spread_scale = 1, spread_offset = 0; ///< half_width = scale * (spread + offset)
  double unsupported_width = 0;               ///< added to half_width
  MovePairs pairs;
  std::set<std::string> devices; ///< names of the GPUs of the records
  std::string trained_on;        ///< for people: records, date, counts
  bool operator==(const RankerWeights &) const = default;
};

/// Correction of log_speedup, learned from one project's own verdicts (own_records.h).
struct Correction {
  std::map<std::string, double> moves; ///< by name of a move: added for each candidate that has it
  Forest trees;                        ///< over the ranker's features; empty: too few records
  bool empty() const { return moves.empty() && trees.trees() == 0; }
};

/// Sum of the offsets and of the trees' value for a candidate.
double corrected(const Correction &own, const Moves &moves, std::span<const float> row);

/// Mean of forests' values of a row, and their standard deviation.
struct MeanAndSpread {
  double mean = 0, spread = 0;
};
MeanAndSpread mean_and_spread(std::span<const Forest> forests, std::span<const float> row);

class Ranker {
public:
  explicit Ranker(RankerWeights weights);

  const RankerWeights &weights() const { return weights_; }
  const FeatureColumns &columns() const { return columns_; }

  /// The features of a task's candidates; the task's part is looked up once.
  class Rows {
  public:
    Rows(const FeatureColumns &columns, const Forest &order, TaskFacts task);
    std::vector<float> row(const Moves &moves, const CompileFacts *compiled = nullptr) const;
    const TaskFacts &task() const { return task_; }
    double unchanged() const {
      return unchanged_;
    } ///< value of the unchanged source in the forest of the order

  private:
    const FeatureColumns &columns_;
    TaskFacts task_;
    std::vector<float> base_;
    double unchanged_ = 0;
  };
  Rows rows(TaskFacts task) const { return {columns_, weights_.order, std::move(task)}; }

  /// Prediction::order alone, for the many candidates of which few are looked at further.
  double order(const Rows &rows, const Moves &moves) const;
  Prediction predict(const Rows &rows, const Moves &moves, const CompileFacts *compiled = nullptr,
                     const Correction *own = nullptr) const;
  /// True if the records have verdicts on the move.
  bool knows(const std::string &move) const { return weights_.pairs.contains({move, move}); }
  /// Comparisons that one order() and one predict() take at most.
  std::size_t order_cost() const, predict_cost() const;

private:
  bool supported(const Rows &rows, const Moves &moves) const;

  RankerWeights weights_;
  FeatureColumns columns_;
};

} // namespace warpwright::trainer
