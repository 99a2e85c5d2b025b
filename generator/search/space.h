// Spaces that a policy chooses in: the states of one kernel or module that lists of moves lead to.
//
// Two spaces: texts of a CUDA file, and plans of a traced module (plan_walk.h). Reached states are
// kept, so that a walk along moves makes each once. Leaves out which moves are good, and running
// anything. Thread: one an object.
#pragma once

#include "generator/search/plan_walk.h"
#include "generator/text/states/open_states.h"

#include <map>

namespace warpwright::search {

class Space {
public:
  using Moves = std::vector<std::string>;
  virtual ~Space() = default;
  /// The moves that may follow. Errors: `moves` are not legal, or a state cannot be read.
  virtual Result<Moves> legal(const Moves &moves) = 0;
  /// Is the state worth a verdict? A plan with a kernel of this project is, and so is any text.
  virtual bool is_candidate(const Moves &moves) = 0;
};

/// Texts of the user's file after moves on it.
class TextSpace final : public Space {
public:
  explicit TextSpace(source::State original) : original_(std::move(original)) {}
  Result<Moves> legal(const Moves &moves) override;
  bool is_candidate(const Moves &) override { return true; }

private:
  Result<source::State> state(const Moves &moves);

  source::State original_;
  states::OpenStates open_;
  std::map<Moves, source::State> states_;
};

/// Plans of a traced module.
class GraphSpace final : public Space {
public:
  /// `task` and `graph` must outlive the space.
  GraphSpace(const model::Task &task, const model::Graph &graph,
             Result<elements::DeviceFacts> facts)
      : task_(task), graph_(graph), facts_(std::move(facts)) {}
  Result<Moves> legal(const Moves &moves) override;
  bool is_candidate(const Moves &moves) override;
  /// The walk at a state. Errors: moves that are not legal; a graph that no plan computes.
  Result<const PlanWalk *> walk(const Moves &moves);

private:
  const model::Task &task_;
  const model::Graph &graph_;
  Result<elements::DeviceFacts> facts_;
  std::map<Moves, PlanWalk> walks_;
};

} // namespace warpwright::search
