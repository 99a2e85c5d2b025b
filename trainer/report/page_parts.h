// The sections of the training page, each an HTML text; empty where the log has nothing for it. Thread: any.
#pragma once

#include "trainer/report/log_data.h"

namespace warpwright::trainer {

/// Curves of one kind of stage over its steps: reward, KL, entropy, success and so on for "rl"; losses and accuracies for "sft", "selfsup".
std::string step_plots(const TrainingLog &log, const std::string &stage);
/// Which moves were proposed, over the steps of each stage that logs them.
std::string technique_section(const TrainingLog &log);
/// Best of k by policy, as curves and as the ablation's table, and the paired ratios.
std::string evaluation_section(const TrainingLog &log);
/// Accuracy of the analysis tokens beside chance.
std::string analysis_section(const TrainingLog &log);
/// What language models answered, why they were refused, and what they cost.
std::string account_section(const TrainingLog &log);
/// Best verified speedup of each task by who found it.
std::string task_section(const TrainingLog &log);
std::string cheat_section(const TrainingLog &log);

/// Digits after the point; an en dash for what is absent.
std::string shown(std::optional<double> value, int digits);

} // namespace warpwright::trainer
