// One task of a benchmark with another system's answer to it: traced, verified and measured once, against every baseline.
//
// The answer is host code and is judged by the same rules as our own plans; docs/candidates.md says where they differ.
// Thread: blocks the caller's; several may run at once.
#pragma once

#include "server/kernelbench/bench_result.h"
#include "server/kernelbench/bench_task.h"
#include "server/kernelbench/candidate_answers.h"
#include "server/optimize/torch_task.h"

#include <functional>
#include <stop_token>

namespace warpwright::server {

/// @param answer nullptr: there is none for this task
/// @param traced what the runner's trace() of the task's module gave
/// @param options as the job is to be verified; host_code and baselines are set here
/// @return its state, and where the answer is refused the outcome and the reason. `source_hash` is left to the caller.
BenchResult judge_candidate(const BenchTask &task, const CandidateAnswer *answer,
                            Result<runner::TracedModule> traced, runner::BlockingClient &client,
                            runner::VerifyOptions options, std::stop_token stop,
                            const std::function<void(const std::string &)> &on_stage);

/// What a verdict on an answer means for a benchmark.
void take_verdict(const model::Verdict &verdict, BenchResult &result);

} // namespace warpwright::server
