// Reader of graph files: a graph that is a document of its own, or the member `graph` of one.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <string>

namespace warpwright::ops {

/// Errors: a file that cannot be read, that is not JSON or not a graph, or a graph that verify_graph() refuses.
Result<model::Graph> read_graph(const std::string &path);

} // namespace warpwright::ops
