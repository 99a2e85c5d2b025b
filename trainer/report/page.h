// The report of a training run: one HTML page, complete in itself, with every plot as inline SVG. No script, nothing fetched.
//
// It shows what the logs say and computes nothing of its own beyond running means: intervals and geometric means come from the
// stages. What a log does not hold is left out, and where a section is empty the page says which stage would fill it. Thread: any.
#pragma once

#include "trainer/report/log_data.h"

namespace warpwright::trainer {

struct PageFacts {
  std::string title = "Training report", date, command;
};

std::string render_training_page(const PageFacts &facts, const TrainingLog &log);

} // namespace warpwright::trainer
