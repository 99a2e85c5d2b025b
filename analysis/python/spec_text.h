// Helpers to split Python-like text at separators outside of brackets and strings.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpwright::analysis {

std::string trimmed(std::string_view text);

/// Trimmed pieces between separators outside of brackets and quotes; empty pieces are left out.
std::vector<std::string> split_outside(std::string_view text, char separator);

/// Position of the first assignment outside of brackets and quotes (a single '=' that is no
/// comparison); npos if there is none.
std::size_t find_assignment(std::string_view text);

/// Whether all brackets and quotes are closed.
bool is_balanced(std::string_view text);

} // namespace warpwright::analysis
