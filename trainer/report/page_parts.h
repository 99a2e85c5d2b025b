// Sections of the training page as HTML; a section is empty if the log has no data for it. Thread: any.
#pragma once

#include "trainer/report/log_data.h"

namespace warpwright::trainer {

/// Curves of one kind of stage over its steps: reward, KL, entropy, success and so on for "rl"; losses and accuracies
/// for "sft" and "selfsup".
std::string step_plots(const TrainingLog &log, const std::string &stage);
/// Shares of moves over the steps of each stage that logs them.
std::string technique_section(const TrainingLog &log);
/// Best of k by policy, as curves and as a table, and the paired ratios.
std::string evaluation_section(const TrainingLog &log);
/// Accuracy of analyses, beside chance.
std::string analysis_section(const TrainingLog &log);
/// Answers of language models, reasons of refusals, and costs.
std::string account_section(const TrainingLog &log);
/// Best verified speedup of each task, by the policy that found it.
std::string task_section(const TrainingLog &log);
std::string cheat_section(const TrainingLog &log);

/// A value with `digits` digits after the point; an en dash for an absent value.
std::string shown(std::optional<double> value, int digits);

} // namespace warpwright::trainer
