// Walking from a task's source along legal moves, as every strategy and the transformer do. Thread: any.
#pragma once

#include "trainer/environment/environment.h"

#include <random>
#include <set>

namespace warpwright::trainer {

/// "vectorize(width=4)" -> "vectorize"
std::string move_name(const std::string &move);

/// As much of `wanted` as is legal one after another; a move that is not is left out.
/// Errors: as Environment::state().
Result<Moves> legal_part(const TrainingTask &task, const Moves &wanted, Environment &environment);

/// The longest beginning of `moves` that can be measured and is no empty list; empty where there is none.
Moves measurable_part(const TrainingTask &task, Moves moves, Environment &environment);

/// One of the legal moves: a name uniformly, then one of its spellings. @param legal not empty
const std::string &random_move(const Moves &legal, std::mt19937_64 &random);

/// Whole number in [0, count). Not std::uniform_int_distribution, whose drawings differ between libraries.
std::size_t draw_index(std::size_t count, std::mt19937_64 &random);
/// In [0, 1).
double draw_unit(std::mt19937_64 &random);

} // namespace warpwright::trainer
