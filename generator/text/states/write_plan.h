// Writing a whole plan, as a language model answers, into the user's own file: its kernel in place of the user's, the launch changed where
// it must be.
//
// The plan's device source is split into declarations; those that the file has already are left out, the others take the kernel's place,
// includes join the file's. Grid, block and shared memory are written at the launch over the names that it passes as sizes. The file is then
// parsed and rendered again: only a file that leads back to the same launch counts as written. It leaves out plans of several launches,
// own temporaries or compiler options, which a file with one launch cannot say. Thread: any.
#pragma once

#include "generator/text/states/generator.h"

namespace warpwright::generator {

/// The file with the plan's kernel in it. Errors: why it cannot be written, as a sentence for the user.
Result<State> write_plan(const State &original, const model::Task &task, const model::Plan &plan);

/// The state of a whole plan by `proposer`: written into the file where that can be, else the plan alone with the reason. Its one move is
/// "rewrite(by=PROPOSER, plan=HASH)".
State with_plan(const State &original, const model::Task &task, const model::Plan &plan,
                const std::string &proposer);

/// Whether a plan's moves say that it was written whole.
bool is_rewrite(const std::vector<std::string> &moves);

} // namespace warpwright::generator
