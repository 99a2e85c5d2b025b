// Walks from a task's source along legal moves, shared by all strategies and the transformer. Thread: any.
#pragma once

#include "trainer/environment/environment.h"

#include <random>
#include <set>

namespace warpwright::trainer {

/// Name of a move: "vectorize" for "vectorize(width=4)".
std::string move_name(const std::string &move);

/// `wanted` without the moves that are illegal at their turn.
/// Errors: as Environment::state().
Result<Moves> legal_part(const TrainingTask &task, const Moves &wanted, Environment &environment);

/// The longest nonempty prefix of `moves` that can be measured; empty: there is none.
Moves measurable_part(const TrainingTask &task, Moves moves, Environment &environment);

/// Draws a legal move: a name uniformly, then one of its spellings. @param legal not empty
const std::string &random_move(const Moves &legal, std::mt19937_64 &random);

/// Integer in [0, count); std::uniform_int_distribution is not used, because its results differ between libraries.
std::size_t draw_index(std::size_t count, std::mt19937_64 &random);
/// Number in [0, 1).
double draw_unit(std::mt19937_64 &random);

} // namespace warpwright::trainer
