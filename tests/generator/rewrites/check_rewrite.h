// Checks rewrites against the reference evaluation. Thread: one.
#pragma once

#include "generator/rewrites/rewrite.h"
#include "tests/generator/graph_builder.h"

namespace warpwright::test {

/// Applies every legal rewrite on its own, and simplify(), and compares the results with the graph's own on drawn leaves.
/// @param rules that must be among those applied; empty: none of them is asked for
/// @return the graph after simplify()
model::Graph check_rewrites(const model::Graph &graph, const std::vector<std::string> &rules);

/// Checks that simplify() uses the rule nowhere.
void check_left_alone(const model::Graph &graph, const std::string &rule);

/// Adds a slice of one dimension. @return its name
std::string slice(GraphBuilder &g, const std::string &x, std::int64_t dim, std::int64_t start,
                  std::int64_t stop, std::int64_t step = 1);

/// Ops of the graph that are no leaves, in order: "matmul add".
std::string ops_of(const model::Graph &graph);

} // namespace warpwright::test
