// Legal moves and their application over parsed states that are kept: whoever asks for the moves of a state applies one of them next.
//
// legal_moves() and apply_move() of generator.h parse at each call; a walk along moves parses each state once here. It keeps a few states,
// some megabytes each. Thread: one.
#pragma once

#include "generator/text/source/kernel_source.h"

#include <deque>
#include <memory>

namespace warpwright::generator {

class OpenStates {
public:
  /// Errors: as KernelSource::open().
  Result<std::vector<Move>> legal(const State &state);
  /// Errors: as apply_move().
  Result<State> apply(const State &state, const Move &move);

private:
  struct Open {
    std::string kernel, text;
    std::vector<std::string> flags;
    std::shared_ptr<const KernelSource> source;
  };
  Result<std::shared_ptr<const KernelSource>> open(const State &state);

  std::deque<Open> open_; ///< the last used first
};

/// As the functions of generator.h, on a source that is open. @param state its own
std::vector<Move> legal_moves(const KernelSource &source);
Result<State> apply_move(const KernelSource &source, const State &state, const Move &move);

} // namespace warpwright::generator
