// Expressions over sizes as C++ at a launch: "ceil_div(n, 256)" as "(n + 255) / 256". Thread: any.
#pragma once

#include "generator/text/source/render.h"
#include "support/symbolic/expression.h"

namespace warpwright::generator {

/// @param names texts of sizes where the launch has them; a size that it lacks stands under its own name
/// Errors: a call that this does not know.
Result<std::string> host_text(const Expression &expression, const Bindings &names);

} // namespace warpwright::generator
