// Builder of plans from regions: code, steps, temporaries, outputs and updates. Kernels whose text differs only in
// their names are written once. Dead temporaries lend their memory to later ones. A region that a family cannot write
// goes to the next family that claims it, in the end to the library; `applied` records this. Regions may have kernels of
// another author (written_region.h). Leaves out which choices are good (torch_search.h).
#pragma once

#include "generator/planning/joined_launches.h"
#include "generator/planning/partition.h"
#include "generator/planning/written_region.h"

namespace warpwright::planning {

/// The values and the launches that a plan computes together at all sizes. Without it each size decides anew.
struct Launches {
  Siblings siblings;
  JoinedSteps joined;
  bool operator==(const Launches &) const = default;
};

/// Choices that determine a plan: the lowering of each anchor and the configuration of each region.
struct PlanChoices {
  AnchorChoices anchors;
  /// Configurations by key of region (see region_key). Regions without an entry get their family's best guess.
  std::map<std::string, elements::Configuration> configurations;
  /// Float functions that the GPU approximates, a part of CUDA's --use_fast_math: 0 none, 1 division and roots,
  /// 2 exponentials and logarithms too, 3 the error function too.
  int fast_math = 0;
  /// With a value: a configuration is used although its family does not offer it at these sizes, and no region may be
  /// lowered otherwise than asked.
  std::optional<Launches> pinned;
  /// Kernels of other authors by key of region, in place of a family's or the library's. Another region than the
  /// one that they were written for goes without them.
  std::map<std::string, WrittenRegion> written = {};
  bool operator==(const PlanChoices &) const = default;
};

/// Returns the anchor, or a pointwise region's first output.
const std::string &region_key(const elements::Region &region);

struct BuiltRegion {
  PlannedRegion planned;
  elements::Configuration configuration; ///< empty for ATen regions
  /// Configurations that the family offers for this region.
  std::vector<elements::Configuration> configurations;
  bool is_written = false; ///< its kernels are PlanChoices::written
  std::string
      words; ///< "fuse(relu,add)", "template(softmax, threads=256)", "aten(convolution)", "written(softmax)"
  std::vector<std::size_t> steps; ///< of the plan; those of joined launches belong to several regions
};

struct BuiltPlan {
  model::Plan plan;
  model::Graph graph; ///< as partitioned, with copies and layouts
  std::vector<BuiltRegion> regions;
  PlanChoices applied; ///< differs from the request where a family could not write a region
  JoinedSteps joined;  ///< launches that became one
  int kernels = 0;                ///< launches of our own kernels
  std::vector<std::string> notes; ///< families that could not write a region, and why
};

/// Names of a plan's buffers for a graph's leaves and results.
struct PlanBuffers {
  std::map<std::string, std::string> leaves; ///< by node
  std::vector<std::string> outputs;          ///< in the order of Graph::outputs
};
/// The choices of a built plan with the configuration of every region, so that a plan of the same graph at other sizes
/// differs in numbers only, or cannot be built.
PlanChoices pinned_choices(const BuiltPlan &built);
/// Returns a task's buffers: In and InOut buffers are the graph's leaves in order, Out buffers the outputs.
/// Errors: a task that does not fit the graph.
Result<PlanBuffers> plan_buffers(const model::Task &task, const model::Graph &graph);
/// Returns buffers for a graph without a task: leaves by their names, outputs "output_0", "output_1".
PlanBuffers plan_buffers(const model::Graph &graph);

/// Errors: a region that neither a family nor the library can lower, with the reason.
Result<BuiltPlan> build_plan(const model::Graph &graph, const PlanBuffers &buffers,
                             const elements::DeviceFacts &facts, const PlanChoices &choices);

} // namespace warpwright::planning
