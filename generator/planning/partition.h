// Partition of a graph into regions, each for one lowering: anchors with the nodes fused to them, and pointwise
// regions. Nodes that no family claims, or that a search gives to the library, become ATen regions. Views cost nothing:
// their readers write them in place, or pass them to the library as strides; each region that reads a cheap value
// computes it again. Leaves out code (families, aten_lowering.h) and memory (plan_builder.h).
#pragma once

#include "generator/elements/family.h"

#include <set>

namespace warpwright::planning {

/// How a search wants one anchor lowered.
struct AnchorChoice {
  std::string family; ///< empty: the best guess; "aten": by the library
  bool fuse = true;   ///< false: nothing before or behind it
  /// For convolutions by the library: channels-last memory. As applied also for families that work so.
  bool channels_last = false;
  /// For products: the region also computes another product of the same left operand and the same shape that only its
  /// epilogue reads, as the gate of a gated layer.
  bool twin = false;
  bool operator==(const AnchorChoice &) const = default;
};

/// Choices by name of anchor. Anchors without an entry get the best guess.
using AnchorChoices = std::map<std::string, AnchorChoice>;

struct PlannedRegion {
  elements::Region region;
  const elements::Family *family = nullptr; ///< nullptr: an ATen step
  AnchorChoice choice;                      ///< as applied: `family` filled in
  bool operator==(const PlannedRegion &) const = default;
};

/// Returns the families that claim a node, the best guess first.
std::vector<const elements::Family *> claiming_families(const ops::GraphIndex &graph,
                                                        const model::Node &node);

/// Returns true where a node has loops of its own: it is neither a leaf nor inline nor an `item`.
bool is_anchor(const model::Node &node);

/// Pointwise values by the name of their region; values with one name are computed together.
using Siblings = std::map<std::string, std::string>;

/// Returns regions in an order in which each comes after those that it reads from. The graph's results and updates are
/// outputs of regions: each must be a node of its own that is no leaf (see with_result_nodes).
/// @param siblings null: the sizes decide which pointwise values are computed together
std::vector<PlannedRegion> partition(const ops::GraphIndex &graph, const AnchorChoices &choices,
                                     const Siblings *siblings = nullptr);

/// Returns the graph with results that regions can write: a reshaped result is replaced by its source (memory has no
/// shape), and a copying node is added for each that is a leaf, a result twice, or both result and update.
model::Graph with_result_nodes(const model::Graph &graph);

} // namespace warpwright::planning
