// Prompt of the transformer as words, and moves as words.
//
//   <begin> in float32 2^20 .. bytes 2^22 flops 2^21 grid 2^12 block 2^8 shared 0 registers 2^4
//   occupancy tenths8 time 2^14
//   <device> 9.0 2^7  <source> ..  <legal> move:vectorize ..  <exemplar> x+2 move:vectorize width=4 <exemplar> x-1 ..
//   <analysis>                                           the prompt ends here, and the answer begins:
//   <second> move:vectorize memory <moves> move:vectorize width=4 <stop>
// For a torch module, the source is its op graph (graph_words.h). Unknown members are left out. Scores may be hidden,
// so that the policy must know which version was faster; the time of the source is then hidden too, since it tells the
// bound. Thread: any.
#pragma once

#include "trainer/policy/policy.h"

namespace warpwright::trainer {

struct PromptOptions {
  bool hides_scores = false;
  std::size_t most_source_words = 220;
};

/// @param legal the legal moves of the unchanged source
std::vector<std::string> prompt_words(const Context &context, const Moves &legal,
                                      const PromptOptions &options);

/// Words of a move: {"move:vectorize", "width=4"} for "vectorize(width=4)".
std::vector<std::string> move_words(const std::string &move);

} // namespace warpwright::trainer
