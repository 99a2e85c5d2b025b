// The torch tasks of C++ snippets as text.
#pragma once

#include "analysis/facts.h"

#include <string>

namespace warpwright::analysis {

/// Facts of the torch functions and modules of a snippet; <torch/torch.h> is included for it, on a line of its own before line 1.
FileFacts torch_facts(const std::string &snippet);

/// A line for each function or module: "f [torch.randn([2, 3])]", "Net [torch.randn([2, 3])] made with [3]", "f missing: x.shape, p"; behind
/// it ", obstacle: ..." where a module's forward must keep its body.
std::string task_text(const std::string &snippet);

} // namespace warpwright::analysis
