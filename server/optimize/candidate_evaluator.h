// Evaluator of a search's candidates: gets one verdict for each from the runner and decides when to give up.
//
// Losing the runner fails the current candidate; three losses in a row end the search. The editor and the command line
// share this class. Thread: any.
#pragma once

#include "runner/connect/connect.h"
#include "support/exclusive.h"

#include <stop_token>

namespace warpwright::server {

class CandidateEvaluator {
public:
  /// @param client outlives this
  CandidateEvaluator(runner::BlockingClient &client, runner::VerifyOptions options)
      : client_(client), state_(State{std::move(options), std::nullopt, 0}) {}

  /// The runner's verdict. If the runner is lost or the search stops: a verdict of outcome Crash without a device.
  /// @param on_loss called with the error of each loss; may be empty
  model::Verdict evaluate(const model::Task &task, const model::Plan &plan, std::stop_token stop,
                          const runner::Client::StageCallback &on_stage = {},
                          const std::function<void(const Error &)> &on_loss = {});

  /// Source of a stop request, made after too many losses of the runner or by whoever cancels the search.
  std::stop_source &give_up() { return give_up_; }
  /// The last loss when the evaluator gave up; nullopt: it did not give up.
  std::optional<Error> failure();

private:
  struct State {
    runner::VerifyOptions options; ///< with the best speedup of this search so far
    std::optional<Error> failure;
    int losses_in_a_row;
  };

  void remember(const model::Verdict &verdict);
  void count_loss(const Error &error);

  runner::BlockingClient &client_;
  Exclusive<State> state_;
  std::stop_source give_up_;
};

/// True if the verdict came from a runner and may therefore be recorded.
inline bool is_from_runner(const model::Verdict &verdict) { return !verdict.device.kind.empty(); }

} // namespace warpwright::server
