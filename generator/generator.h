// The facade of the generator: legal moves of a state, applying one, and the plan of a state.
//
// A state is the text of the user's own file: a move is an edit of that text, and after it the file is parsed
// again, so moves compose, come back in the surrounding style, and the diff to show is the diff of two texts.
// Analysis may guess, the runner proves: a move promises to be legal by its checks, never to be right.
// Thread: any; nothing is shared between calls.
#pragma once

#include "analysis/analyze.h"
#include "support/model/task.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::generator {

/// One legal transformation with its parameters, spelled "vectorize(width=4)".
struct Move {
  std::string name;
  std::map<std::string, std::string> parameters;
  bool operator==(const Move &) const = default;
  auto operator<=>(const Move &) const = default;
};
std::string to_string(const Move &move);
Result<Move> move_from_string(const std::string &text);

/// Who proposed a state, and what it said; all empty of the search's own.
struct Provenance {
  std::string proposer; ///< "builtin", "endpoint"
  std::string
      analysis; ///< for people: what bounds the kernel, which earlier version was faster and why
  std::optional<model::Plan> answer; ///< a whole plan that it wrote, where no moves lead here
  std::string not_applicable;        ///< why `answer` is not in the file's text; empty: it is
};

/// A version of the user's file, reached from the original by `moves`.
struct State {
  analysis::SourceFile file;
  analysis::ParseSettings settings;
  std::string kernel; ///< name of the kernel that is optimised
  std::vector<Move> moves;
  Provenance provenance;
};

/// Moves whose checks pass in this state, cheap to enumerate (one stub parse).
std::vector<Move> legal_moves(const State &state);

/// Errors: an unknown move, or one that is not legal here, with the reason.
Result<State> apply_move(const State &state, const Move &move);

/// The plan of a state for the task that was inferred from the original file: its slice and its launch over the
/// task's buffers, scalars and sizes.
/// Errors: a state that cannot be sliced or whose launch cannot be expressed over the task.
Result<model::Plan> render_plan(const State &state, const model::Task &task);

} // namespace warpwright::generator
