// Verification of states on the CPU backend by the real runner and its CPU worker. Thread: one.
#pragma once

#include "runner/connect/connect.h"
#include "tests/generator/example_states.h"

namespace warpwright::test {

/// A runner of this build; null, with a line on stdout, if it or its CPU worker is not built.
std::unique_ptr<runner::BlockingClient> connect_or_skip();

/// Checks that a state computes what the task's reference computes.
void check_verified(runner::BlockingClient &client, const model::Task &task, const source::State &state);

} // namespace warpwright::test
