// Regions to a plan: code, steps, temporaries, outputs and updates.
//
// Kernels whose text is the same but for their names are written once. Temporaries that are no longer needed lend their memory to later
// ones. A family that cannot write a region gives way to the next that claims it, in the end to the library, and the choices that were
// applied say so. Leaves out which choices are good (torch_search.h). Thread: pure functions.
#pragma once

#include "generator/planning/partition.h"
#include "support/model/task.h"

namespace warpwright::planning {

/// What a search varies.
struct PlanChoices {
  AnchorChoices anchors;
  /// By key of region (see region_key): how its family writes it. Absent: the family's best guess.
  std::map<std::string, elements::Configuration> configurations;
  bool operator==(const PlanChoices &) const = default;
};

/// The anchor, or a pointwise region's first output.
const std::string &region_key(const elements::Region &region);

struct BuiltRegion {
  PlannedRegion planned;
  elements::Configuration configuration; ///< empty of ATen regions
  /// What the family offers for this region.
  std::vector<elements::Configuration> configurations;
  std::string words; ///< "fuse(relu,add)", "template(softmax, threads=256)", "aten(convolution)"
};

struct BuiltPlan {
  model::Plan plan;
  model::Graph graph; ///< as partitioned, with copies and layouts
  std::vector<BuiltRegion> regions;
  PlanChoices applied;            ///< differs from what was asked where a family gave way
  int kernels = 0;                ///< launches of ours
  std::vector<std::string> notes; ///< which family gave way, and why
};

/// Names of a plan's buffers for a graph's leaves and results.
struct PlanBuffers {
  std::map<std::string, std::string> leaves; ///< by node
  std::vector<std::string> outputs;          ///< in the order of Graph::outputs
};
/// A task's: its In and InOut buffers are the graph's leaves in order, its Out buffers the outputs.
/// Errors: a task that does not fit the graph.
Result<PlanBuffers> plan_buffers(const model::Task &task, const model::Graph &graph);
/// For a graph without a task: leaves by their names, outputs "output_0", "output_1".
PlanBuffers plan_buffers(const model::Graph &graph);

/// Errors: a region that nobody can lower, with the reason.
Result<BuiltPlan> build_plan(const model::Graph &graph, const PlanBuffers &buffers,
                             const elements::DeviceFacts &facts, const PlanChoices &choices);

} // namespace warpwright::planning
