// `warpwright env` on torch modules: the methods of env.h, where a call carries an op graph.
//
// A call carries the result of a trace, {"graph", "task", "device", "moves"}: the op graph, the task with the module
// (support/model/schemas), the target device, and the moves made so far, as plan_walk.h lists them. The server keeps
// nothing between calls and never runs the user's Python. Methods:
//   tasks {graph, task}    -> {"kernels": [{"name", "inferred": true, "task", "graph": text}]}; of
//                             `task` only module and buffers are used; the text
//                             (docs/internals/op-graph.md) is for people and prompts: groups of regions
//                             as comments, long constants cut
//   moves {state}          -> {"moves": [{"move", "name", "parameters", "is_template"}], "text"};
//                             equal texts mean equal plans
//   apply {state, "move"}  -> {"text", "moves", "recipe"}; the recipe (recipe.h) makes the plan again
//   plan  {state}          -> the plan
#pragma once

#include "support/rpc/connection.h"

namespace warpwright::search {

/// Answers one call of a method that env.h lists, with a member "graph". Errors: as answer_env().
/// Throws nlohmann::json::exception for a member of another type.
rpc::Outcome answer_graph_env(const std::string &method, const rpc::Json &params);

} // namespace warpwright::search
