// Verdicts as readable text on a terminal. Thread: any.
#pragma once

#include "support/model/verdict.h"

#include <functional>
#include <ostream>

namespace warpwright::runner {

void print_table(std::ostream &out, const model::Verdict &verdict);

/// Callback for Client::verify that writes `before` and each stage when it begins; null `out`: no
/// output.
std::function<void(const std::string &)> print_stages(std::ostream *out,
                                                      const std::string &before = "");

} // namespace warpwright::runner
