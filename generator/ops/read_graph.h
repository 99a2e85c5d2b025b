// Graphs from files: what a trace wrote, as a document of its own or as its member `graph`. Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <string>

namespace warpwright::ops {

/// Errors: a file that cannot be read, that is no JSON or no graph, or a graph that verify_graph() refuses.
Result<model::Graph> read_graph(const std::string &path);

} // namespace warpwright::ops
