// How moves are tested: a source whose kernel is marked with ^, a move, and the exact text that must come out.
//
// The result must also parse without errors, because moves compose by parsing again.
#pragma once

#include <doctest/doctest.h>
#include <string>

namespace warpwright::source {
struct State; // of generator/text/source/state.h, which costs seconds to include
}

namespace warpwright::test {

/// The state of a marked source: `__global__ void ^scale(...)`.
source::State state_of(std::string marked);

/// `move` turns the marked source into `expected`.
void check_move(const std::string &marked, const std::string &move, const std::string &expected);

/// `move` is legal, and what comes out parses: for sources of which only a name or two is special.
void check_parses(const std::string &marked, const std::string &move);

/// `move` is refused with exactly this reason.
void check_refused(const std::string &marked, const std::string &move, const std::string &reason);

/// The parser's errors of a text, one a line; empty when it parses.
std::string parse_errors(const source::State &state);

} // namespace warpwright::test
