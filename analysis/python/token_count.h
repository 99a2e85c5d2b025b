// How many tokens a Python text has at most: what the parser can hold is limited (python_parser.cpp).
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace warpwright::analysis {

/// At least as many as there are; comments, and strings that are closed, count as one each.
std::size_t count_python_tokens(std::string_view text);

} // namespace warpwright::analysis
