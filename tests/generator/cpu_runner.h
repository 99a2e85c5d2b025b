// Verification of moves by the real runner with its CPU worker. Thread: one.
#pragma once

#include "runner/connect/connect.h"
#include "tests/generator/example_states.h"

namespace warpwright::test {

/// A runner; null, with a note on the output, where the runner or the CPU worker is not built.
std::unique_ptr<runner::BlockingClient> connect_or_skip();

/// The state computes what the task's reference computes.
void check_verified(runner::BlockingClient &client, const model::Task &task, const source::State &state);

using MoveLists = std::vector<std::vector<std::string>>;
/// Each list of moves is legal one after another for a marked program with one kernel, and what comes
/// out is right.
void check_moves_on_cpu(runner::BlockingClient &client, const std::string &marked, const MoveLists &lists);

} // namespace warpwright::test
