// Interface of the text generator: legal moves of a state, their application, and a state's plan.
//
// A state is the text of the user's own file. A move is an edit of that text, after which the file
// is parsed again. So moves compose, the result keeps the surrounding style, and the diff to show
// is the diff of two texts. A move that passes its checks may still be wrong, because analysis may
// guess; the runner verifies the result.
#pragma once

#include "generator/text/source/state.h"
#include "support/model/task.h"

#include <vector>

namespace warpwright::states {

/// Texts of files by their absolute paths.
using Texts = std::map<std::string, std::string>;

/// The user's file, from which moves start, with what the task says of the kernel's launch.
/// @param changed texts that count instead of those on disk, for the file that includes this one
source::State state_of_file(analysis::SourceFile file, analysis::ParseSettings settings, const std::string &kernel,
                            const model::Task &task, const arch::Gpu &gpu, const Texts &changed = {});

/// Values of the launched kernel's parameters at the task's sizes, for State::arguments.
std::vector<std::optional<std::int64_t>> argument_values(const model::Task &task);

/// Extents of the task's only launch at its sizes, for State::extents. Empty: they are not known.
std::vector<std::int64_t> launch_extents(const model::Task &task);

/// Moves that pass their checks in this state and do not only replace an earlier one. Cheap: one stub parse.
std::vector<source::Move> legal_moves(const source::State &state);

/// The state after a move. Errors: an unknown move, or the reason why the move is not legal here.
Result<source::State> apply_move(const source::State &state, const source::Move &move);

/// The plan of a state for the task that was inferred from the original file: its slice and its
/// launch over the task's buffers, scalars and sizes.
/// Errors: a state that cannot be sliced or whose launch cannot be expressed over the task.
Result<model::Plan> render_plan(const source::State &state, const model::Task &task);

} // namespace warpwright::states
