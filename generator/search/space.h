// Spaces for a policy: the states of one kernel or module, each reached by a list of moves.
//
// There are two spaces: texts of a CUDA file, and plans of a traced module
// (plan_walk.h). A space keeps the states it reached, so that a walk makes each state
// once. Leaves out: which moves are good, and running anything. Thread: one per object.
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
  /// True if the state is worth a verdict: any text, or a plan with a kernel of this project.
  virtual bool is_candidate(const Moves &moves) = 0;
};

/// Texts of the user's file after moves.
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
  /// The walk at a state. Errors: `moves` are not legal, or no plan computes the graph.
  Result<const PlanWalk *> walk(const Moves &moves);

private:
  const model::Task &task_;
  const model::Graph &graph_;
  Result<elements::DeviceFacts> facts_;
  std::map<Moves, PlanWalk> walks_;
};

} // namespace warpwright::search
