// Words of an op graph for prompts, with the names of its values replaced; they stand in for a kernel's source.
//
//   region=0 2^1 op:conv 2^4 2^6 2^4 2^4 ..    first groups of alike regions, slowest first: count if above 1, op, type
//   v0 op:relu v1 2^4 2^6 ..                   then the nodes in order: op, operands, and the type if the first
//                                              operand has another one
// A type is the dtype if it is not f32, then the shape. Few attributes are kept. The input is the text of `warpwright
// env` (generator/search/graph_env.h); lines that cannot be read are left out. Thread: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::trainer {

/// @param most largest number of words; the rest is left out
std::vector<std::string> graph_words(std::string_view graph, std::size_t most);

} // namespace warpwright::trainer
