// The table of operators as JSON, for what is not C++: the tracer, tests in Python.
#pragma once

#include <string>

namespace warpwright::generator {

/// {"hardswish": {"kind": "pointwise", "operands": [1, 1], "attributes": []}, ...}, a line an operator. Attributes that need not be
/// there end in "?", operators that give booleans have "truth".
std::string operators_json();

} // namespace warpwright::generator
