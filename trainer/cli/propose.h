// `propose`: a policy served over JSON-RPC on stdio to whoever measures: the language server and `warpwright optimize`.
//
//   info    {}                                           -> {"policy", "version"}
//   propose {"path", "text", "kernel", "flags", "device", "tried": [{"moves", "plan", "verdict"}]}
//           -> {"moves", "plan", "analysis": {"text", "design", "bound", "faster_exemplar", "explaining_move"}, "seconds"}, or
//              {"exhausted": true, "refused"}
// `text` is the unchanged source; `tried` has the verdicts on it so far, as in support/model/schemas, and may be empty; `device` is a
// model::DeviceInfo or absent. A policy answers with moves, or with a whole plan, which its `tried` entry then names; `refused` says why its
// answers could not be used. States and legal moves come from `warpwright env`, a child. Thread: main.
#pragma once

#include "trainer/config/config.h"
#include "trainer/policy/policy.h"

namespace warpwright::trainer {

/// Serves until the input ends. Errors: no warpwright; a connection that broke.
Result<void> run_propose(const Config &config, std::unique_ptr<Policy> policy);

} // namespace warpwright::trainer
