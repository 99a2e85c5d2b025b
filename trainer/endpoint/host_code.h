// Detector of host code in sources and plans that must be device code.
//
// This is no safety check: a candidate is data, so its host code never runs. The detector tells a language model its
// mistake in the next prompt, in clearer words than a compiler's first error. It ignores comments and strings.
// Thread: any.
#pragma once

#include "support/model/task.h"

#include <optional>
#include <string>

namespace warpwright::trainer {

/// Describes the first host code in `source`, as one sentence with its line; nullopt: none.
std::optional<std::string> host_code_in(const std::string &source);

/// Describes host code in a plan's steps, which are calls of modules; nullopt: none.
std::optional<std::string> host_code_in(const model::Plan &plan);

/// Blanks comments and string literals in a text; every other byte keeps its position.
std::string without_comments(const std::string &source);

} // namespace warpwright::trainer
