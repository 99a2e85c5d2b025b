// Why a text is no device source: what only a host program may do, named.
//
// Nothing of a proposer's host code could run anyway (a candidate is data), so this decides nothing about safety: it tells a language
// model what it did wrong, in words that the next prompt carries, instead of leaving it to a compiler's first error.
// Comments and strings are not looked at. Thread: any.
#pragma once

#include "support/model/task.h"

#include <optional>
#include <string>

namespace warpwright::trainer {

/// The first thing in `source` that belongs to a host program, as one sentence; nullopt: none.
std::optional<std::string> host_code_in(const std::string &source);

/// The same of a plan's steps: calls of modules.
std::optional<std::string> host_code_in(const model::Plan &plan);

/// The text with comments and string literals blanked, every other byte where it was.
std::string without_comments(const std::string &source);

} // namespace warpwright::trainer
