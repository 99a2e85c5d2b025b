// Whether a graph makes sense: names, order, ops, attributes, and types that agree with what the ops give.
//
// Everything behind it (GraphIndex, rewrites, lowerings) relies on it, since graphs come from outside: the tracer, files, tests. It leaves
// out whether the graph computes what the module does; the runner compares that. Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

namespace warpwright::ops {

/// Errors: the first node that is wrong, by name, and why; or an output or update that names no node.
Result<void> verify_graph(const model::Graph &graph);

} // namespace warpwright::ops
