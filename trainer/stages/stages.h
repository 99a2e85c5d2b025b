// Stages of the trainer as functions, each in its own file.
//
// A stage logs JSON lines. Training stages write checkpoints atomically and resume from the last one when they are
// started again with the same folder. Thread: main.
#pragma once

#include "trainer/stages/workplace.h"

namespace warpwright::trainer {

/// Search over tasks; all verdicts go into the first file of environment.records.
Result<void> run_collect(const Config &config, const Surroundings &surroundings);
/// Imitation of the verified best of each recorded task.
Result<void> run_sft(const Config &config, const Surroundings &surroundings);
/// Rounds of proposing, verifying, and learning verified answers.
Result<void> run_selfsup(const Config &config, const Surroundings &surroundings);
/// Contrastive reinforcement learning, and its variants for ablation.
Result<void> run_rl(const Config &config, const Surroundings &surroundings);
/// Best of k on a split, for a list of policies.
Result<void> run_eval(const Config &config, const Surroundings &surroundings);

} // namespace warpwright::trainer
