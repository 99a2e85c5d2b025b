// Upper bound of the number of tokens in a Python text. The parser's capacity is limited
// (python_parser.cpp).
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace warpwright::analysis {

/// At least the number of tokens. A comment or a closed string counts as one token.
std::size_t count_python_tokens(std::string_view text);

} // namespace warpwright::analysis
