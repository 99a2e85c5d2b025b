// `warpwright env` on torch modules: the same methods as for CUDA files (env.h), where a call carries an op graph.
//
// A call carries what a trace gave, {"graph", "task", "device", "moves"}: the op graph, the task with the module (support/model/schemas), the
// device that plans are for, and the moves made so far, as generator/search/plan_walk.h lists them. Nothing is kept between calls, and the
// user's Python never runs here. Methods:
//   tasks {graph, task}         -> {"kernels": [{"name", "inferred": true, "task", "graph": text}]}; of `task` it needs module and buffers;
//                                  the text (docs/internals/op-graph.md) is for people and prompts: groups of regions as comments, long constants cut
//   moves {state}               -> {"moves": [{"move", "name", "parameters", "is_template"}], "text"}; equal texts: equal plans
//   apply {state, "move"}       -> {"text", "moves", "recipe"}: the recipe makes the plan again in a search (recipe.h)
//   plan  {state}               -> the plan
// Thread: any.
#pragma once

#include "support/rpc/connection.h"

namespace warpwright::generator {

/// One call that has a member "graph". Errors: as answer_env(). Throws nlohmann::json::exception where a member has another type.
rpc::Outcome answer_graph_env(const std::string &method, const rpc::Json &params);

} // namespace warpwright::generator
