// Table of all moves. A new move needs a file, a line here, and a test.
#include "generator/text/moves/move_kind.h"

#include <algorithm>
#include <charconv>

namespace warpwright::moves {

/// Rows of name and `is_template`, in the order in which moves are proposed.
#define WARPWRIGHT_MOVES(MOVE)                                                                     \
  MOVE(gemm, true)                                                                                 \
  MOVE(tiled_transpose, true)                                                                      \
  MOVE(row_reduction, true)                                                                        \
  MOVE(online_softmax, true)                                                                       \
  MOVE(array_reduction, true)                                                                      \
  MOVE(shared_tiling, true)                                                                        \
  MOVE(float_literals, false)                                                                      \
  MOVE(privatize_histogram, false)                                                                 \
  MOVE(aggregate_atomics, false)                                                                   \
  MOVE(shuffle_reduction, false)                                                                   \
  MOVE(remap_threads, false)                                                                       \
  MOVE(vectorize, false)                                                                           \
  MOVE(grid_stride, false)                                                                         \
  MOVE(coarsen, false)                                                                             \
  MOVE(pad_shared, false)                                                                          \
  MOVE(restrict_const, false)                                                                      \
  MOVE(block_size, false)                                                                          \
  MOVE(unroll, false)                                                                              \
  MOVE(launch_bounds, false)

#define WARPWRIGHT_DECLARE(name, is_template)                                                      \
  Result<Offer> offer_##name(const source::KernelSource &);
#define WARPWRIGHT_ROW(name, is_template) {#name, is_template, offer_##name},
WARPWRIGHT_MOVES(WARPWRIGHT_DECLARE)

const std::vector<MoveKind> &move_registry() {
  static const std::vector<MoveKind> kMoves{WARPWRIGHT_MOVES(WARPWRIGHT_ROW)};
  return kMoves;
}

const MoveKind *find_move_kind(std::string_view name) {
  const auto &moves = move_registry();
  const auto found = std::ranges::find(moves, name, &MoveKind::name);
  return found == moves.end() ? nullptr : &*found;
}

int number(const Parameters &parameters, const std::string &name) {
  int value = 0;
  if (auto found = parameters.find(name); found != parameters.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

std::vector<Parameters> choices_of(const std::string &name, const std::vector<int> &values) {
  std::vector<Parameters> choices;
  for (int value : values)
    choices.push_back({{name, std::to_string(value)}});
  return choices;
}

std::vector<Parameters> choice_table(const std::vector<std::string> &names,
                                     const std::vector<std::vector<int>> &rows) {
  std::vector<Parameters> choices;
  for (const std::vector<int> &row : rows)
    for (Parameters &choice = choices.emplace_back(); int value : row)
      choice.emplace(names[choice.size()], std::to_string(value));
  return choices;
}

} // namespace warpwright::moves
