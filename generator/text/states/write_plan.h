// Writer of a whole plan, such as a language model's answer, into the user's own file: its kernel
// replaces the user's, and the launch changes as needed.
//
// The plan's device source is split into declarations. Declarations that the file already has are
// left out, the others replace the kernel, and includes are added to the file's. Grid, block and
// shared memory are written at the launch in terms of the names that it passes as sizes. The file is
// then parsed and rendered again, and the write succeeds only if it has the same launch. Plans with
// several launches, temporaries or compiler options of their own are not supported, because a file
// with one launch cannot express them.
#pragma once

#include "generator/text/states/generator.h"

namespace warpwright::states {

/// The file with the plan's kernel in it.
/// Errors: the reason why it cannot be written, as a sentence for the user.
Result<source::State> write_plan(const source::State &original, const model::Task &task,
                                 const model::Plan &plan);

/// The state of a whole plan by `proposer`: written into the file where possible, else the plan
/// alone with the reason. Its one move is "rewrite(by=PROPOSER, plan=HASH)".
source::State with_plan(const source::State &original, const model::Task &task,
                        const model::Plan &plan, const std::string &proposer);

/// True if the moves of a plan say that it was written as a whole.
bool is_rewrite(const std::vector<std::string> &moves);

} // namespace warpwright::states
