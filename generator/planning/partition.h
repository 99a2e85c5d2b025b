// A graph as regions, each for one lowering: anchors with what is fused before and behind them, and pointwise regions for the rest.
//
// What no family claims, or what a search asks of the library, becomes an ATen region. Views cost nothing: they are written in place by
// whoever reads them, or handed to the library as strides; cheap values that several regions read are computed again by each. Leaves out
// code (families, aten_lowering.h) and memory (plan_builder.h). Thread: pure functions.
#pragma once

#include "generator/elements/family.h"

#include <set>

namespace warpwright::planning {

/// How a search wants one anchor lowered.
struct AnchorChoice {
  std::string family; ///< empty: the best guess; "aten": by the library
  bool fuse = true;   ///< false: nothing before or behind it
  /// Of convolutions by the library: channels-last memory.
  bool channels_last = false;
  bool operator==(const AnchorChoice &) const = default;
};

/// By name of anchor. Those without an entry get the best guess.
using AnchorChoices = std::map<std::string, AnchorChoice>;

struct PlannedRegion {
  elements::Region region;
  const elements::Family *family = nullptr; ///< nullptr: an ATen step
  AnchorChoice choice;            ///< as applied: `family` filled in
  bool operator==(const PlannedRegion &) const = default;
};

/// The families that claim a node, the best guess first.
std::vector<const elements::Family *> claiming_families(const ops::GraphIndex &graph,
                                                        const model::Node &node);

/// Whether a node is computed by loops of its own: neither a leaf nor inline nor an `item`.
bool is_anchor(const model::Node &node);

/// Regions in an order in which each comes after those that it reads from. The graph's results and updates are outputs of regions: each a node
/// of its own that is no leaf (see with_result_nodes).
std::vector<PlannedRegion> partition(const ops::GraphIndex &graph, const AnchorChoices &choices);

/// The graph with results that regions can write: a reshaped value stands for what it shows (memory has no shape), and there is a copying node for
/// each that is a leaf, or a result twice, or both result and update.
model::Graph with_result_nodes(const model::Graph &graph);

} // namespace warpwright::planning
