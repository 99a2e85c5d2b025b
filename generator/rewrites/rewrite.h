// Rewrites: algebra on op graphs that saves work.
//
// A rule looks at one node and returns nodes that compute its value in another way. It checks everything that this
// needs: shapes, dtypes, users. Each file holds one idea, and registry.cpp lists the rules. simplify() applies the
// rules that save work on every device until nothing changes; the others are choices for a search.
// docs/internals/rewrites.md lists each with its condition and its saving.
// All rules assume finite values, where PyTorch propagates infinities and NaN (x - x is 0 here), and none depends on
// names, on constants of a program or on particular shapes. A rewrite may be wrong only in rounding, which the runner
// measures.
#pragma once

#include "generator/ops/graph_index.h"

#include <optional>
#include <span>
#include <string_view>

namespace warpwright::rewrites {

class GraphFacts;

/// New nodes, in graph order, and the value that replaces the old one: one of the new nodes, or a node from before it.
struct Replacement {
  std::vector<model::Node> nodes;
  std::string value;
};

struct Rule {
  std::string_view name; ///< "matmul-diagonal"
  /// True where the rule saves work wherever it is legal, so that no search needs to try without it.
  bool always;
  std::optional<Replacement> (*match)(const GraphFacts &facts, const model::Node &node);
};

/// One way to change a graph.
struct Rewrite {
  std::string_view rule;
  bool always = false;
  std::string node; ///< the node whose value it replaces
  Replacement replacement;
};

std::span<const Rule> rules();

/// Returns every rewrite that is legal now, in graph order.
std::vector<Rewrite> rewrites(const ops::GraphIndex &index);

/// Returns the first legal rewrite of one rule, in graph order. nullopt: there is none.
std::optional<Rewrite> first_rewrite(const ops::GraphIndex &index, std::string_view rule);

/// Returns the graph after the rewrite: the new value has the old one's name and, where the graph returns it, its
/// layout. Dead nodes are removed; leaves stay.
/// Errors: a rewrite of another graph, or one whose value has another shape or dtype.
Result<model::Graph> apply(const model::Graph &graph, const Rewrite &rewrite);

struct Simplification {
  std::vector<std::string> without; ///< names of rules not to use
};
struct Simplified {
  model::Graph graph;
  std::vector<std::string> applied; ///< "matmul-diagonal(%mm)", in order
};
/// Applies the rules that always save work, until none matches.
Simplified simplify(model::Graph graph, const Simplification &how = {});

/// Returns the graph without nodes that no output or update needs; leaves stay.
model::Graph without_dead_nodes(model::Graph graph);

} // namespace warpwright::rewrites
