// `propose` command: serves a policy over JSON-RPC on stdio to a client that measures (language server, `warpwright
// optimize`).
//
//   info    {}                                           -> {"policy", "version"}
//   propose {"path", "text", "kernel", "flags", "device", "tried": [{"moves", "plan", "verdict"}]}
//           -> {"moves", "plan", "seconds",
//               "analysis": {"text", "design", "bound", "faster_exemplar", "explaining_move"}}, or
//              {"exhausted": true, "refused"}
// `text` is the unchanged source. `tried` has the verdicts on it so far, as in support/model/schemas; it may be empty.
// `device` is a model::DeviceInfo or absent. A policy answers with moves or with a whole plan; the `tried` entry of
// such a version has that plan. `refused` says why answers could not be used. States and legal moves come from
// `warpwright env`, a child process. Thread: main.
#pragma once

#include "trainer/config/config.h"
#include "trainer/policy/policy.h"

namespace warpwright::trainer {

/// Serves until the input ends. Errors: a connection that broke. Bad requests get error responses.
Result<void> run_propose(const Config &config, std::unique_ptr<Policy> policy);

} // namespace warpwright::trainer
