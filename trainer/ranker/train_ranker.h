// Training of a ranker from recorded tasks. The same tasks and seed give the same bits. Thread:
// any.
#pragma once

#include "trainer/ranker/boosting.h"
#include "trainer/ranker/ranker.h"
#include "trainer/ranker/recorded_tasks.h"

namespace warpwright::trainer {

struct RankerTraining {
  BoostingSettings order{.trees = 300, .regularization = 0.1}, speedup{.trees = 150},
      failure{.trees = 100};
  std::uint64_t seed = 1;
};

/// @param tasks pointers, so that folds share them; not empty
RankerWeights train_ranker(const std::vector<const RankedTask *> &tasks,
                           const RankerTraining &training = {});

/// Expected logarithm of a speedup over the unchanged source, without trees: the mean of a list of
/// moves where it has records, else of its moves. The baseline "table of moves".
class MoveTable {
public:
  explicit MoveTable(const std::vector<const RankedTask *> &tasks);
  double value(const Moves &moves) const;

private:
  struct Mean {
    double sum = 0, count = 0;
  };
  std::map<Moves, Mean> lists_;
  std::map<std::string, Mean> moves_;
  Mean all_;
};

} // namespace warpwright::trainer
