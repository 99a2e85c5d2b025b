// Texts of verdicts, shared by editors, reports and terminals.
#pragma once

#include "support/model/verdict.h"

namespace warpwright::model {

/// "wrong result".
std::string outcome_text(Outcome outcome);
/// With the word "ill-conditioned" for an ill-conditioned task.
std::string outcome_text(const Verdict &verdict);
/// Whether the verdict says that the task's reference itself cannot be run, so no candidate could
/// pass.
bool blames_reference(const Verdict &verdict);
/// "2.31x [2.27, 2.35]".
std::string speedup_text(const Speedup &speedup);
/// "98.2 us", "1.43 ms": three significant digits.
std::string time_text(double nanoseconds);

} // namespace warpwright::model
