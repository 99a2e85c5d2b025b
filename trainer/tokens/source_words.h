// Words of device source for prompts, with the user's own names replaced.
//
// Comments, line markers, brackets other than [], commas and semicolons are left out. Called names, members, keywords
// and CUDA's names stay. Other names become v0, v1, ..., v23, v0, ... in the order of appearance; long numbers become
// "num". Nothing is parsed. Thread: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::trainer {

/// @param most largest number of words; the rest is left out
std::vector<std::string> source_words(std::string_view source, std::size_t most);

} // namespace warpwright::trainer
