// What the transformer reads before it answers, as words; and moves as words.
//
//   <begin> in float32 2^20 .. bytes 2^22 flops 2^21 grid 2^12 block 2^8 shared 0 registers 2^4 occupancy tenths8 time 2^14
//   <device> 9.0 2^7  <source> ..  <legal> move:vectorize ..  <exemplar> x+2 move:vectorize width=4 <exemplar> x-1 ..
//   <analysis>                                             here the prompt ends, and the answer begins:
//   <second> move:vectorize memory <moves> move:vectorize width=4 <stop>
// Of a torch module the source is its op graph (graph_words.h). Members that are not known are left out. Scores may be hidden, so that "which was faster" has to be known and not only read; the
// time of the source is hidden with them, because it tells what bounds it. Thread: any.
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

/// "vectorize(width=4)" -> {"move:vectorize", "width=4"}
std::vector<std::string> move_words(const std::string &move);

} // namespace warpwright::trainer
