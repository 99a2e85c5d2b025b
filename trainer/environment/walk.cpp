#include "trainer/environment/walk.h"

#include <algorithm>

namespace warpwright::trainer {

std::string move_name(const std::string &move) { return move.substr(0, move.find('(')); }

Result<Moves> legal_part(const TrainingTask &task, const Moves &wanted, Environment &environment) {
  Moves moves;
  for (const std::string &move : wanted) {
    auto state = TRY(environment.state(task, moves));
    if (std::ranges::find(state.legal, move) != state.legal.end())
      moves.push_back(move);
  }
  return moves;
}

Moves measurable_part(const TrainingTask &task, Moves moves, Environment &environment) {
  while (!moves.empty() && !environment.can_measure(task, moves))
    moves.pop_back();
  return moves;
}

const std::string &random_move(const Moves &legal, std::mt19937_64 &random) {
  std::vector<std::string> names;
  for (const std::string &move : legal)
    if (std::ranges::find(names, move_name(move)) == names.end())
      names.push_back(move_name(move));
  const std::string &name = names[draw_index(names.size(), random)];
  std::vector<const std::string *> spellings;
  for (const std::string &move : legal)
    if (move_name(move) == name)
      spellings.push_back(&move);
  return *spellings[draw_index(spellings.size(), random)];
}

std::size_t draw_index(std::size_t count, std::mt19937_64 &random) {
  return std::size_t(draw_unit(random) * double(count));
}

double draw_unit(std::mt19937_64 &random) { return double(random() >> 11) * 0x1p-53; }

} // namespace warpwright::trainer
