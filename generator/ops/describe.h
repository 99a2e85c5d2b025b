// The table of operators as JSON, for Python: the tracer and its tests.
#pragma once

#include <string>

namespace warpwright::ops {

/// Returns {"hardswish": {"kind": "pointwise", "operands": [1, 1], "attributes": []}, ...}, one line for each operator.
/// Names of optional attributes end in "?". Operators that give booleans have "truth": true.
std::string operators_json();

} // namespace warpwright::ops
