// Contrastive prompt: the task, the device, two scored earlier versions, and the request.
//
// The method is from CUDA-L1 (arXiv 2507.14111): a model first explains why one of two scored versions is faster, then
// writes a third, and so learns from the difference. Unlike CUDA-L1, the prompt asks for device source and a plan,
// never for host code, and its wording is new. Scores are measured speedups with their intervals; a failed version is
// shown with its outcome. Thread: any.
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
  bool is_reference = false; ///< the unchanged task; the prompt has its code already
};

struct PromptParts {
  const model::Task &task;
  std::optional<model::DeviceInfo> device;
  std::optional<Measured> original;    ///< verdict on the unchanged task
  std::vector<PromptVersion> versions; ///< at most two
  std::string refused;                 ///< why the last answer could not be used; empty if it could
  std::optional<PromptVersion> last = {}; ///< the model's last version, if it is not among them
  bool as_object = false;                 ///< ask for one JSON object instead of three sections
  std::string graph = {};              ///< op graph of a torch module as text; empty: none
  std::optional<PlanView> plan = {};   ///< a plan of the module that the answer may change
};

/// An exemplar as the prompt shows it, with its code if the exemplar or the environment has it.
PromptVersion prompt_version(const Exemplar &exemplar, const TrainingTask &task,
                             Environment &environment);

/// Returns a system message, which is the same for all tasks, and a user message.
std::vector<ChatMessage> contrastive_prompt(const PromptParts &parts);

} // namespace warpwright::trainer
