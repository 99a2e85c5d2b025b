// Writer of a verified plan as Python that depends only on PyTorch: at most kStandaloneLines lines, with the kernels'
// text and their launcher standalone.py. It supports few plans: pointwise kernels of modules without submodules.
#pragma once

#include "server/export/plan_literal.h"

namespace warpwright::server {

inline constexpr std::size_t kStandaloneLines = 100; ///< includes the class and the marks around it

/// Text before a class, with a last line that decorates the class.
/// @param literal result of plan_literal()
/// @param names prefix of the names that the text defines
/// Errors: the reason why the plan has no standalone form.
Result<std::string> standalone_text(const model::Task &task, const model::Plan &plan,
                                    const CallPatterns &patterns, const std::string &literal,
                                    const std::string &comment, const std::string &names);

} // namespace warpwright::server
