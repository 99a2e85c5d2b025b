// Rewrites: algebra on op graphs that skips work.
//
// A rule looks at one node and says what else its value may be computed from; it checks everything that this needs: shapes, dtypes,
// users. Rules are one idea a file, in the table in registry.cpp. Those that save work on every device are applied by simplify()
// until nothing changes; the others are choices for a search. docs/internals/rewrites.md lists
// each with its condition and its saving.
// All of them take values to be finite, where PyTorch carries infinities and NaN along (x - x is 0 here), and none keys on names,
// on constants of a program or on particular shapes. A rewrite may be wrong only in rounding; the runner measures that.
// Thread: pure functions.
#pragma once

#include "generator/ops/graph_index.h"

#include <optional>
#include <span>
#include <string_view>

namespace warpwright::rewrites {

class GraphFacts;

/// New nodes, in graph order, and the value that stands for the replaced one: one of them, or a node from before it.
struct Replacement {
  std::vector<model::Node> nodes;
  std::string value;
};

struct Rule {
  std::string_view name; ///< "matmul-diagonal"
  /// Whether it saves work wherever it is legal, so that no search needs to try without it.
  bool always;
  std::optional<Replacement> (*match)(const GraphFacts &facts, const model::Node &node);
};

/// One way to change a graph.
struct Rewrite {
  std::string_view rule;
  bool always = false;
  std::string node; ///< whose value it replaces
  Replacement replacement;
};

std::span<const Rule> rules();

/// Every rewrite that is legal now, in graph order.
std::vector<Rewrite> rewrites(const ops::GraphIndex &index);

/// The graph after the rewrite: the new value has the old one's name and, where the graph returns it, its layout; what nobody needs
/// any more is gone. Leaves stay.
/// Errors: a rewrite of another graph, or one whose value has another shape or dtype.
Result<model::Graph> apply(const model::Graph &graph, const Rewrite &rewrite);

struct Simplification {
  std::vector<std::string> without; ///< names of rules not to use
};
struct Simplified {
  model::Graph graph;
  std::vector<std::string> applied; ///< "matmul-diagonal(%mm)", in order
};
/// Applies the rules that are always good, until none matches.
Simplified simplify(model::Graph graph, const Simplification &how = {});

/// The graph without nodes that no output or update needs; leaves stay.
model::Graph without_dead_nodes(model::Graph graph);

} // namespace warpwright::rewrites
