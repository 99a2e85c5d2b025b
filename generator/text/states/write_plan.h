// Writing of a whole plan, as a language model answers, into the user's own file: its kernel in
// place of the user's, the launch changed as needed.
//
// The plan's device source is split into declarations. Those that the file has already are left
// out, the others take the kernel's place, includes join the file's. Grid, block and shared memory
// are written at the launch over the names that it passes as sizes. The file is then parsed and
// rendered again, and counts as written only if it has the same launch. Plans of several launches,
// with temporaries or compiler options of their own, are left out: a file with one launch cannot
// say them.
#pragma once

#include "generator/text/states/generator.h"

namespace warpwright::states {

/// The file with the plan's kernel in it.
/// Errors: why it cannot be written, as a sentence for the user.
Result<source::State> write_plan(const source::State &original, const model::Task &task,
                                 const model::Plan &plan);

/// The state of a whole plan by `proposer`: written into the file where possible, else the plan
/// alone with the reason. Its one move is "rewrite(by=PROPOSER, plan=HASH)".
source::State with_plan(const source::State &original, const model::Task &task,
                        const model::Plan &plan, const std::string &proposer);

/// Do a plan's moves say that it was written whole?
bool is_rewrite(const std::vector<std::string> &moves);

} // namespace warpwright::states
