// The text form of op graphs (docs/internals/op-graph.md), one line a node, for people, tests and
// messages.
//
// What print writes, parse reads back as the same graph. Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <string>
#include <string_view>

namespace warpwright::ops {

/// "%r: f32[16, 64] = maximum(%c, %zero)".
std::string print_node(const model::Node &node);
/// Nodes, then updates, then `return`.
std::string print_graph(const model::Graph &graph);
/// Blank lines and lines that begin with '#' are skipped. It checks the form only; verify_graph checks the rest.
/// Errors: the line, and what was expected there.
Result<model::Graph> parse_graph(std::string_view text);

} // namespace warpwright::ops
