// Verification of a graph: names, order, ops, attributes, and types that agree with what the ops give. GraphIndex,
// rewrites and lowerings rely on it, since graphs come from outside: the tracer, files, tests. It does not check that
// the graph computes what the module does; the runner compares that.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

namespace warpwright::ops {

/// Errors: the name of the first wrong node, and why it is wrong; or an output or update that names no node.
Result<void> verify_graph(const model::Graph &graph);

} // namespace warpwright::ops
