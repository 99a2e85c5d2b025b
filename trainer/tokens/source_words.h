// Device source as words, with names of the user's own taken away.
//
// Comments, line markers and the punctuation that only closes what a word opened are left out; a name that is called, a keyword
// and a name of CUDA stay; other names become v0, v1, ... in the order they appear, long numbers "num". Nothing is parsed. Thread: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::trainer {

/// @param most words; what comes after is left out
std::vector<std::string> source_words(std::string_view source, std::size_t most);

} // namespace warpwright::trainer
