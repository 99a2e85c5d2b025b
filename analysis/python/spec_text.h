// Small cuts of Python-like text: at separators that stand outside of brackets and strings.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpwright::analysis {

std::string trimmed(std::string_view text);

/// Pieces between separators at depth 0, trimmed; a piece without text is left out.
std::vector<std::string> split_outside(std::string_view text, char separator);

/// Position of the first assignment at depth 0: a single '=' that is no comparison; npos when there is none.
std::size_t find_assignment(std::string_view text);

/// Whether brackets and quotes close.
bool is_balanced(std::string_view text);

} // namespace warpwright::analysis
