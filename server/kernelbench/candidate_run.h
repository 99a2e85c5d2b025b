// Judging of another system's answer to a benchmark task: trace, verification, and measurement against every baseline.
//
// The answer is host code and follows the same rules as our plans, with the exceptions in docs/use/candidates.md.
// Thread: blocks the caller; several may run at once.
#pragma once

#include "server/kernelbench/bench_result.h"
#include "server/kernelbench/bench_task.h"
#include "server/kernelbench/candidate_answers.h"
#include "server/optimize/torch_task.h"

#include <functional>
#include <stop_token>

namespace warpwright::server {

/// @param answer null: the task has no answer
/// @param traced result of the runner's trace() of the task's module
/// @param options of the verification; host_code is set here
/// @return the task's state, and for a refused answer its outcome and reason; the caller sets `source_hash`
BenchResult judge_candidate(const BenchTask &task, const CandidateAnswer *answer,
                            Result<runner::TracedModule> traced, runner::BlockingClient &client,
                            runner::VerifyOptions options, std::stop_token stop,
                            const std::function<void(const std::string &)> &on_stage);

/// Stores a verdict on an answer in the benchmark result.
void take_verdict(const model::Verdict &verdict, BenchResult &result);

} // namespace warpwright::server
