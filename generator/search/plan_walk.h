// Walks along moves through plans of a traced module: states for a learned policy, served by `warpwright env`.
//
// The first state is the plan closest to the module: the library's operators in order, no rewrites, and only pointwise
// chains in kernels of this project. `begin(with=ours)` and the like replace it by a complete plan of the search
// (plan_starts.h). Each other move makes one change:
//   begin(with=ours)                  first only: a start, or a rewrite everywhere ("conv-phases")
//   simplify()                        the rewrites that are always good
//   rewrite(rule=fold-scale)          an optional rewrite wherever it is legal;
//                                     rewrite_at(rule=.., place=1): at one place
//   family(region=0,name=rows)        the family of a region; "aten" is the library
//   configure(region=0,threads=128)   the parameters in which the family's configurations differ
//   separate(region=0), fuse(region=0)  no fusion around a region, or all that is found
//   layout(region=0,to=channels_last)   of a convolution of the library; layouts(to=..): of all
//   exact()                           no TF32
// Each choice is made once and never undone, and a region's family is chosen before its configuration. Regions that are
// alike (region_kind.h) share a number and change together; number 0 takes the most estimated time. So moves contain no
// names, and one list of moves means the same in many modules. Leaves out: which moves are good.
#pragma once

#include "generator/search/plan_starts.h"
#include "generator/search/recipe.h"

#include <functional>
#include <set>

namespace warpwright::search {

/// A group of alike regions of a built plan.
struct RegionGroup {
  AlikeRegions regions;
  double seconds = 0; ///< estimated, of all of them
};
/// The groups of a plan, slowest first.
std::vector<RegionGroup> region_groups(const planning::BuiltPlan &built,
                                       const arch::NodeRates &rates);

class PlanWalk {
public:
  /// Errors: a task that does not fit the graph; a graph that no plan computes.
  static Result<PlanWalk> begin(const model::Task &task, const model::Graph &graph,
                                const elements::DeviceFacts &facts);

  /// A walk that goes on from a state, such as a search's best plan. Errors: as begin(); no plan of the state.
  static Result<PlanWalk> from(const GraphState &state, const model::Task &task,
                               const model::Graph &graph, const elements::DeviceFacts &facts);

  /// The moves that make() accepts now, in the order of the file comment; none without a plan.
  std::vector<std::string> legal() const;
  /// Makes a move. Errors: the move is not legal here.
  Result<void> make(const std::string &move);

  /// The state's plan. Errors: the reason why there is none.
  const Result<planning::BuiltPlan> &built() const { return built_; }
  const std::vector<std::string> &moves() const { return moves_; }
  /// The recipe that makes the plan again in a search (torch_search.h).
  Recipe recipe() const;
  const GraphState &state() const { return position_; }

private:
  struct Position : GraphState {
    /// Choices that later moves cannot change: "family conv_1", "configuration conv_1".
    std::set<std::string> decided;
  };
  struct Step {
    std::string text;
    std::function<void(Position &)> change;
  };

  PlanWalk(model::Graph traced, planning::PlanBuffers buffers, const elements::DeviceFacts &facts)
      : traced_(std::move(traced)), buffers_(std::move(buffers)), facts_(facts) {}
  Result<void> start();
  void go_to(Position position);

  std::vector<Step> steps() const;
  void add_starts(std::vector<Step> &steps) const;
  void add_rewrites(std::vector<Step> &steps) const;
  void add_regions(std::vector<Step> &steps) const;
  void add_configurations(std::vector<Step> &steps, const std::string &region,
                          const RegionGroup &group) const;
  void add_anchor_changes(std::vector<Step> &steps, const std::string &region,
                          const RegionGroup &group) const;
  void add_layouts(std::vector<Step> &steps) const;
  bool is_decided(const RegionGroup &group, const std::string &kind) const;
  Step choice_of(const RegionGroup &group, std::string text, const planning::AnchorChoice &choice,
                 const std::string &kind) const;

  model::Graph traced_;
  planning::PlanBuffers buffers_;
  elements::DeviceFacts facts_;
  std::vector<std::string> moves_;
  Position position_; ///< with the applied choices
  Result<planning::BuiltPlan> built_ = fail("nothing was built");
};

} // namespace warpwright::search
