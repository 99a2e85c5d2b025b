// Text form of op graphs (docs/internals/op-graph.md), one line for each node, for people, tests and messages.
// parse_graph() reads the text of print_graph() back as the same graph.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <string>
#include <string_view>

namespace warpwright::ops {

/// Returns a line such as "%r: f32[16, 64] = maximum(%c, %zero)".
std::string print_node(const model::Node &node);
/// Returns nodes, then updates, then `return`.
std::string print_graph(const model::Graph &graph);
/// Skips blank lines and lines that begin with '#'. Checks the form only; verify_graph() checks the rest.
/// Errors: the line, and what was expected there.
Result<model::Graph> parse_graph(std::string_view text);

} // namespace warpwright::ops
