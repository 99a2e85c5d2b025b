// Legal moves and their application with a cache of parsed states.
//
// legal_moves() and apply_move() of generator.h parse at each call. A search asks for the moves of a
// state and then applies one of them, so this cache parses each state once. It keeps a few states of
// some megabytes each. Thread: one for each object.
#pragma once

#include "generator/text/source/kernel_source.h"

#include <deque>
#include <memory>

namespace warpwright::states {

class OpenStates {
public:
  /// The legal moves. Errors: as KernelSource::open().
  Result<std::vector<source::Move>> legal(const source::State &state);
  /// The state after a move. Errors: as apply_move().
  Result<source::State> apply(const source::State &state, const source::Move &move);

private:
  struct Open {
    std::string kernel, text;
    std::vector<std::string> flags;
    std::vector<std::optional<std::int64_t>> arguments;
    std::shared_ptr<const source::KernelSource> source;
  };
  Result<std::shared_ptr<const source::KernelSource>> open(const source::State &state);

  std::deque<Open> open_; ///< the most recently used first
};

/// The functions of generator.h for a source that is already open.
/// @param state the state from which `source` was opened
std::vector<source::Move> legal_moves(const source::KernelSource &source);
/// The moves without those that only replace an earlier move of the state, as another block's size does.
std::vector<source::Move> without_repeats(std::vector<source::Move> moves, const source::State &state);
Result<source::State> apply_move(const source::KernelSource &source, const source::State &state,
                                 const source::Move &move);

} // namespace warpwright::states
