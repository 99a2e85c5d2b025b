// `warpwright env`: tasks, moves and plans of a source over JSON-RPC on stdio, for trainers and
// other programs.
//
// Every call carries its state, {"path", "text", "kernel", "flags", "moves"}, so that nothing is
// kept between calls; "text" may be left out when "path" names a readable file. Methods:
//   tasks {path, text, flags}  -> {"kernels": [{"name", "line", "inferred", "task", "missing",
//                                               "assumptions"}]}
//   moves {state}              -> {"moves": [{"move", "name", "parameters", "is_template"}]}
//   apply {state, "move"}      -> {"text", "moves"}
//   plan  {state, "task"}      -> the plan, as in support/model/schemas
// A call with a member "graph" is about a torch module: graph_env.h. Thread: one.
#pragma once

#include "support/rpc/connection.h"

namespace warpwright::states {
class OpenStates;
}

namespace warpwright::search {

/// Answers one call. Errors: MethodNotFound, and InvalidParams for missing or illegal parameters,
/// each with a message for people.
rpc::Outcome answer_env(const std::string &method, const rpc::Json &params);
/// The same for many calls along walks, whose parsed states `open` keeps.
rpc::Outcome answer_env(const std::string &method, const rpc::Json &params,
                        states::OpenStates &open);

/// Serves until the input ends. @return the exit code: 0 after a clean end of stream, else 1
int run_env(int input_fd = 0, int output_fd = 1);

} // namespace warpwright::search
