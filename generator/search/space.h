// States of one kernel or module that lists of moves lead to, from the source as it is: what a policy chooses in.
//
// Two spaces: texts of a CUDA file, and plans of a traced module (plan_walk.h). States that were reached are kept, so that a walk along
// moves makes each once. Leaves out which moves are good, and running anything. Thread: one.
#pragma once

#include "generator/search/plan_walk.h"
#include "generator/text/states/open_states.h"

#include <map>

namespace warpwright::generator {

class Space {
public:
  using Moves = std::vector<std::string>;
  virtual ~Space() = default;
  /// Moves that may follow. Errors: `moves` are not legal, or a state that cannot be read.
  virtual Result<Moves> legal(const Moves &moves) = 0;
  /// Whether the state is worth a verdict: a plan with a kernel of ours, or a text whose plan may yet turn out not to exist.
  virtual bool is_candidate(const Moves &moves) = 0;
};

/// Texts of the user's file after moves on it.
class TextSpace final : public Space {
public:
  explicit TextSpace(State original) : original_(std::move(original)) {}
  Result<Moves> legal(const Moves &moves) override;
  bool is_candidate(const Moves &) override { return true; }

private:
  Result<State> state(const Moves &moves);

  State original_;
  OpenStates open_;
  std::map<Moves, State> states_;
};

/// Plans of a traced module.
class GraphSpace final : public Space {
public:
  /// @param task, graph outlive the space
  GraphSpace(const model::Task &task, const model::Graph &graph, Result<DeviceFacts> facts)
      : task_(task), graph_(graph), facts_(std::move(facts)) {}
  Result<Moves> legal(const Moves &moves) override;
  bool is_candidate(const Moves &moves) override;
  /// The state. Errors: moves that are not legal; a graph that no plan computes.
  Result<const PlanWalk *> walk(const Moves &moves);

private:
  const model::Task &task_;
  const model::Graph &graph_;
  Result<DeviceFacts> facts_;
  std::map<Moves, PlanWalk> walks_;
};

} // namespace warpwright::generator
