// Report of training runs: one self-contained HTML page with inline SVG plots, without scripts or external resources.
//
// The page shows the values of the logs; intervals and geometric means come from the stages, and the page adds only
// running means. Values that the logs do not have are left out. The footer lists empty sections with the stages that
// would fill them. Thread: any.
#pragma once

#include "trainer/report/log_data.h"

namespace warpwright::trainer {

struct PageFacts {
  std::string title = "Training report", date, command;
};

std::string render_training_page(const PageFacts &facts, const TrainingLog &log);

} // namespace warpwright::trainer
