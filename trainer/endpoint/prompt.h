// The contrastive prompt: the task, the device, two scored earlier versions, and what is to be written.
//
// The method is CUDA-L1's (arXiv 2507.14111): a model that must say why one of two scored versions is faster before it writes a third
// learns from the difference. The words are ours, and so is what is asked for: device source and a plan, never host code. Scores are
// measured speedups with their intervals; a version that failed is shown with its outcome. Thread: any.
#pragma once

#include "trainer/endpoint/chat.h"
#include "trainer/policy/policy.h"

namespace warpwright::trainer {

/// One earlier version as the prompt shows it.
struct PromptVersion {
  std::string source; ///< device source; empty: only the moves are known
  std::string steps;  ///< JSON of the plan without its source
  Moves moves;
  Measured measured;
  bool is_reference = false; ///< the task as it is, whose code the prompt holds already
};

struct PromptParts {
  const model::Task &task;
  std::optional<model::DeviceInfo> device;
  std::optional<Measured> original;    ///< verdict on the task as it is
  std::vector<PromptVersion> versions; ///< none to two
  std::string refused;                 ///< why the last answer could not be used; empty: it could
};

/// A system message, which is the same for all tasks, and a user message.
std::vector<ChatMessage> contrastive_prompt(const PromptParts &parts);

} // namespace warpwright::trainer
