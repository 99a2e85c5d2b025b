// Verdicts in words, for the prompts of language models: scores, facts, and what to mend. Thread:
// any.
#pragma once

#include "trainer/records/record.h"

#include <string>

namespace warpwright::trainer {

/// "speedup 1.310 over the reference (95% interval 1.290 to 1.330)", "failed: wrong_result (...)".
std::string score_text(const Measured &measured);

/// Time, compile report and bound of the candidate, as far as they are known; each a sentence.
std::string facts_text(const Measured &measured);

/// The verdict as the next message to the model that wrote the candidate: the outcome, the first failed check, the
/// compiler's lines, times, rates and counters; then a request to go on.
std::string feedback_text(const model::Verdict &verdict);
/// The same of a verdict's recorded part.
std::string feedback_text(const Measured &measured);
/// The same for an answer that was not judged. @param reason one sentence
std::string refusal_text(const std::string &reason);

/// A fenced block that the text cannot leave: the fence is longer than any in the text.
/// @param language of the block: "cuda"; may be empty
std::string fenced(const std::string &language, const std::string &text);

} // namespace warpwright::trainer
