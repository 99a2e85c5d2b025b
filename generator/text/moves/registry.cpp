// The one table of moves. To add a move: its file, its line in moves.h and here, its test.
#include "generator/text/moves/moves.h"

#include <algorithm>
#include <charconv>

namespace warpwright::generator {

const std::vector<MoveKind> &move_registry() {
  static const std::vector<MoveKind> kMoves{
      {"gemm", true, check_gemm, apply_gemm},
      {"tiled_transpose", true, check_tiled_transpose, apply_tiled_transpose},
      {"row_reduction", true, check_row_reduction, apply_row_reduction},
      {"online_softmax", true, check_online_softmax, apply_online_softmax},
      {"array_reduction", true, check_array_reduction, apply_array_reduction},
      {"shared_tiling", true, check_shared_tiling, apply_shared_tiling},
      {"float_literals", false, check_float_literals, apply_float_literals},
      {"privatize_histogram", false, check_privatize_histogram, apply_privatize_histogram},
      {"aggregate_atomics", false, check_aggregate_atomics, apply_aggregate_atomics},
      {"shuffle_reduction", false, check_shuffle_reduction, apply_shuffle_reduction},
      {"remap_threads", false, check_remap_threads, apply_remap_threads},
      {"vectorize", false, check_vectorize, apply_vectorize},
      {"grid_stride", false, check_grid_stride, apply_grid_stride},
      {"coarsen", false, check_coarsen, apply_coarsen},
      {"pad_shared", false, check_pad_shared, apply_pad_shared},
      {"restrict_const", false, check_restrict_const, apply_restrict_const},
      {"block_size", false, check_block_size, apply_block_size},
      {"unroll", false, check_unroll, apply_unroll},
      {"launch_bounds", false, check_launch_bounds, apply_launch_bounds},
  };
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

} // namespace warpwright::generator
