// Table of all moves. A new move needs a file, a line here, and a test.
#include "generator/text/moves/move_kind.h"

#include <algorithm>
#include <charconv>

namespace warpwright::moves {

/// Rows of name, `is_template`, effect and rule, in the order in which moves are proposed.
#define WARPWRIGHT_MOVES(MOVE)                                                                     \
  MOVE(gemm, true,                                                                                 \
       "a naive matrix product becomes a double-buffered, register-tiled FP32 GEMM",               \
       "uncoalesced-access")                                                                       \
  MOVE(tiled_transpose, true,                                                                      \
       "a transpose through a padded tile in shared memory, coalesced on both sides",              \
       "uncoalesced-access")                                                                       \
  MOVE(row_reduction, true,                                                                        \
       "a sum, maximum or minimum over a row: a warp or a block per row, 16-byte loads, shuffles", \
       "tree-reduction")                                                                           \
  MOVE(online_softmax, true,                                                                       \
       "a softmax of one thread per row: running maximum and sum in one pass, a warp or a "        \
       "block per row", "uncoalesced-access")                                                      \
  MOVE(array_reduction, true,                                                                      \
       "the sum of an array: capped grid, 16-byte loads, shuffles, one atomic per block",          \
       "tree-reduction")                                                                           \
  MOVE(shared_tiling, true,                                                                        \
       "a matrix product reads its operands through square tiles in shared memory",                \
       "uncoalesced-access")                                                                       \
  MOVE(float_literals, false,                                                                      \
       "accidental double literals become float literals",                                         \
       "double-arithmetic")                                                                        \
  MOVE(fast_functions, false, "float functions by cheaper ones of the hardware", "")               \
  MOVE(fast_division, false, "quotients by reciprocals that are computed once, or approximately", "") \
  MOVE(privatize_histogram, false, "a block counts in shared memory first", "atomic-contention")   \
  MOVE(aggregate_atomics, false, "one atomic per warp or per block", "atomic-contention")          \
  MOVE(combine_atomics, false,                                                                     \
       "atomics of a warp's threads at one address become one, or are skipped where they change nothing", \
       "atomic-contention")                                                                        \
  MOVE(shuffle_reduction, false,                                                                   \
       "a tree in shared memory becomes warp shuffles",                                            \
       "tree-reduction")                                                                           \
  MOVE(remap_threads, false,                                                                       \
       "x and y swap roles, so that neighboring threads access neighboring elements",              \
       "uncoalesced-access")                                                                       \
  MOVE(vectorize, false,                                                                           \
       "8- or 16-byte loads and stores, with a scalar tail and an alignment check",                \
       "")                                                                                         \
  MOVE(grid_stride, false, "a capped grid in which each thread loops one grid apart", "")          \
  MOVE(coarsen, false, "several elements per thread, one block apart", "")                         \
  MOVE(thread_tile, false,                                                                         \
       "several elements per thread along one axis, for which the loops of the work run once",     \
       "")                                                                                         \
  MOVE(split_loop, false,                                                                          \
       "neighboring threads share the iterations of one thread's loops and combine their results", \
       "uncoalesced-access")                                                                       \
  MOVE(register_accumulator, false,                                                                \
       "an element that a loop updates stays in a register until the loop ends",                   \
       "")                                                                                         \
  MOVE(constant_arguments, false,                                                                  \
       "integer arguments of the measured launch become constants, behind a test of their values", \
       "")                                                                                         \
  MOVE(local_to_shared, false,                                                                     \
       "a thread's array with indices from data becomes a column in shared memory",                \
       "")                                                                                         \
  MOVE(narrow_index, false,                                                                        \
       "64-bit indices become 32-bit numbers, behind a test of the launch that proves that they fit", \
       "")                                                                                         \
  MOVE(pad_shared, false,                                                                          \
       "one more column in shared memory, against bank conflicts",                                 \
       "bank-conflict")                                                                            \
  MOVE(restrict_const, false,                                                                      \
       "const and __restrict__ on pointers, so that loads may be cached and moved",                \
       "missing-restrict")                                                                         \
  MOVE(cache_hints, false,                                                                         \
       "loads and stores that tell the caches which data is used once or only read",               \
       "")                                                                                         \
  MOVE(block_size, false,                                                                          \
       "another block shape; the grid and dependent constants follow",                             \
       "block-size")                                                                               \
  MOVE(unroll, false, "#pragma unroll on the innermost loops", "")                                 \
  MOVE(launch_bounds, false,                                                                       \
       "the block size in __launch_bounds__, so that the compiler knows its registers",            \
       "")

#define WARPWRIGHT_DECLARE(name, is_template, effect, rule)                                        \
  Result<Offer> offer_##name(const source::KernelSource &);
#define WARPWRIGHT_ROW(name, is_template, effect, rule)                                            \
  {#name, is_template, effect, rule, offer_##name},
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
