// `warpwright env`: tasks, moves and plans of a source over JSON-RPC on stdio, for trainers and other programs.
//
// Every call carries its state, {"path", "text", "kernel", "flags", "moves", "task"}, so the server
// keeps nothing between calls. "text" may be omitted if "path" names a readable file. Without flags,
// such a file is read as its project says. Moves that need values of the launch are legal only with
// the task. Methods:
//   tasks {path, text, flags}  -> {"kernels": [{"name", "line", "inferred", "task", "missing",
//                                               "assumptions"}]}
//   moves {state}              -> {"moves": [{"move", "name", "parameters", "is_template"}]}
//   apply {state, "move"}      -> {"text", "moves"}
//   plan  {state, "task"}      -> the plan, as in support/model/schemas
//   facts {"task"}             -> {"kernel": {name: number}}, of the task's reference (kernel_numbers.h)
//   kinds {}                   -> {"kinds": [{"name", "is_template"}]}, of every move
// A call with a member "graph" concerns a torch module; see graph_env.h.
#pragma once

#include "analysis/analyze.h"
#include "support/rpc/connection.h"

#include <functional>

namespace warpwright::states {
class OpenStates;
}

namespace warpwright::search {

/// The settings of a file's project.
using SettingsOf = std::function<analysis::ParseSettings(const std::string &path)>;

/// Answers one call. Errors: MethodNotFound, or InvalidParams
/// for missing or illegal parameters, with a readable message.
rpc::Outcome answer_env(const std::string &method, const rpc::Json &params);
/// As above, for many calls along walks; `open` keeps their parsed states.
rpc::Outcome answer_env(const std::string &method, const rpc::Json &params,
                        states::OpenStates &open, const SettingsOf &project = {});

/// Serves stdin and stdout until the input ends. @return the exit code: 0 after a clean end of stream, else 1
int run_env(const SettingsOf &project);

} // namespace warpwright::search
