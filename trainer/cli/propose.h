// `propose` command: serves a policy over JSON-RPC on stdio to a client that measures (language
// server, `warpwright optimize`).
//
//   info    {}                                           -> {"policy", "version"}
//   propose {"path", "text", "kernel", "flags", "device", "tried": [{"moves", "plan", "verdict"}]}
//           -> {"moves", "plan", "seconds", "spent",
//               "analysis": {"text", "design", "bound", "faster_exemplar", "explaining_move"}}, or
//              {"exhausted": true, "refused", "spent"}
//   propose {"task", "graph", "plan": {"id", "text", "legal"}, "device",
//            "tried": [{"moves", "answer", and "verdict", "refused" or "pending": true}]}
//           -> as above, with {"moves", "regions", "base", "answer"} for changes of a plan, or {"waits": true}
// The second form is for torch modules. The caller makes their plans
// (trainer/environment/environment.h, PlanView; trainer/policy/policy.h, Proposal). `tried` names
// an answer by its text `answer`; moves alone have none. `waits` asks for verdicts that are
// pending. During a call, notifications "progress" {"text"} show how an endpoint's answer grows.
// `spent` has its tokens and costs. When the input ends, a request to an endpoint ends too.
//
// `text` is the unchanged source. `tried` has the verdicts on it so far, as in
// support/model/schemas; it may be empty. `device` is a model::DeviceInfo or absent. A policy
// answers with moves or with a whole plan; the `tried` entry of such a version has that plan.
// `refused` has the reason why answers could not be used. States and legal moves of kernels come
// from `warpwright env`, a child process. Thread: main. The policy answers on another thread.
#pragma once

#include "trainer/config/config.h"
#include "trainer/policy/policy.h"

namespace warpwright::trainer {

/// Serves until the input ends. Errors: a connection that broke. Bad requests get error responses.
Result<void> run_propose(const Config &config, std::unique_ptr<Policy> policy);

} // namespace warpwright::trainer
