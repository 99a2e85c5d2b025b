// Legal moves and their application over parsed states that are kept for the next call.
//
// legal_moves() and apply_move() of generator.h parse at each call. A walk along moves asks for the
// moves of a state and applies one of them next, so each state is parsed once here. A few states
// are kept, some megabytes each. Thread: one an object.
#pragma once

#include "generator/text/source/kernel_source.h"

#include <deque>
#include <memory>

namespace warpwright::states {

class OpenStates {
public:
  /// Errors: as KernelSource::open().
  Result<std::vector<source::Move>> legal(const source::State &state);
  /// Errors: as apply_move().
  Result<source::State> apply(const source::State &state, const source::Move &move);

private:
  struct Open {
    std::string kernel, text;
    std::vector<std::string> flags;
    std::shared_ptr<const source::KernelSource> source;
  };
  Result<std::shared_ptr<const source::KernelSource>> open(const source::State &state);

  std::deque<Open> open_; ///< the most recently used first
};

/// As the functions of generator.h, on a source that is open.
/// @param state the state that `source` was opened from
std::vector<source::Move> legal_moves(const source::KernelSource &source);
Result<source::State> apply_move(const source::KernelSource &source, const source::State &state,
                                 const source::Move &move);

} // namespace warpwright::states
