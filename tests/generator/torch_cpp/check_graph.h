// Functions of C++ snippets as graphs: `check(source, expected)` compares with the graph's text, `refused(source)` gives the reason.
#pragma once

#include <string>

namespace warpwright::generator {

/// The graph of the snippet's only torch function, as text; "refused, line N: ..." or "missing: ..." where there is none. <torch/torch.h> is
/// included for it, on a line of its own before line 1.
std::string graph_text(const std::string &snippet);
/// Fails the test unless the graph, without its leaves and its return, is `expected`, whose lines may be indented.
void check_body(const std::string &snippet, const std::string &expected);
void check_refused(const std::string &snippet, const std::string &part_of_reason);

} // namespace warpwright::generator
