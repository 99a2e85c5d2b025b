// C++ text of expressions over sizes at a launch: "ceil_div(n, 256)" as "(n + 255) / 256".
#pragma once

#include "generator/text/source/render.h"
#include "support/symbolic/expression.h"

namespace warpwright::source {

/// @param names texts of sizes at the launch; a size without a text keeps its name
/// Errors: a call of an unknown function.
Result<std::string> host_text(const symbolic::Expression &expression, const Bindings &names);

} // namespace warpwright::source
