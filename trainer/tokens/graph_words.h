// An op graph as words, with the names of its values taken away: what a prompt says of a torch module where it shows a kernel's source.
//
//   region=0 2^1 op:conv 2^4 2^6 2^4 2^4 ..    groups of alike regions, the most time first: how many, what, the result's shape
//   v0 op:relu v1 2^4 2^6 ..                   then the nodes in order; a shape where it is not the first operand's, a dtype likewise
// Few attributes are said. It reads the text that `warpwright env` gives (generator/search/graph_env.h), and what it cannot read it leaves out.
// Thread: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::trainer {

/// @param most words; what comes after is left out
std::vector<std::string> graph_words(std::string_view graph, std::size_t most);

} // namespace warpwright::trainer
