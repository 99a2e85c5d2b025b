// A search's view of its runner: one verdict a candidate, and when to give up.
//
// A runner that is lost costs the candidate under way; three losses in a row end the search. Editor
// and command line share it. Thread: any.
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

  /// The runner's verdict; or, where the runner was lost or the search stopped, one of outcome Crash
  /// that names no device. @param on_loss called with the error of each loss; may be empty
  model::Verdict evaluate(const model::Task &task, const model::Plan &plan, std::stop_token stop,
                          const runner::Client::StageCallback &on_stage = {},
                          const std::function<void(const Error &)> &on_loss = {});

  /// Asks to stop when the runner was lost too often; whoever cancels the search asks it as well.
  std::stop_source &give_up() { return give_up_; }
  /// Why it gave up.
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

/// Whether a verdict came from a runner, and may be recorded.
inline bool is_from_runner(const model::Verdict &verdict) { return !verdict.device.kind.empty(); }

} // namespace warpwright::server
