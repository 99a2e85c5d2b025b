// A verified plan as a text that needs PyTorch alone: at most kStandaloneLines lines, with the kernels' text and standalone.py, which launches
// them. It takes few plans: pointwise kernels of a module without submodules. Others need the package. Thread: pure functions.
#pragma once

#include "server/export/plan_literal.h"

namespace warpwright::server {

inline constexpr std::size_t kStandaloneLines = 100; ///< the class and the marks around it included

/// The text whose last line decorates the class that follows.
/// @param literal of plan_literal()
/// @param names what the text's names begin with
/// Errors: why the plan cannot stand alone.
Result<std::string> standalone_text(const model::Task &task, const model::Plan &plan,
                                    const CallPatterns &patterns, const std::string &literal,
                                    const std::string &comment, const std::string &names);

} // namespace warpwright::server
