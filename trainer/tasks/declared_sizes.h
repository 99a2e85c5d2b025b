// Finds and replaces the sizes that a source declares.
//
// A size is declared once: `// warpwright: rows = 4096, ...`, `const int rows = 4096;`, `constexpr int`, `#define rows
// 4096`, or, in Python, `rows = 4096` at the start of a line. Sizes after `check` do not change. A simple text search
// is enough, because the sources are the suite's own and its test runs all of them. Thread: any.
#pragma once

#include "support/symbolic/expression.h"
#include "support/text.h"

#include <optional>
#include <string>

namespace warpwright::trainer {

/// Range of the digits of a size's value. nullopt: the source does not declare the size exactly once.
std::optional<Range> declared_size(const std::string &text, const std::string &name);

/// Returns the source with other sizes. Errors: a size that is not declared exactly once, with its name.
Result<std::string> with_sizes(const std::string &text, const symbolic::Sizes &sizes);

} // namespace warpwright::trainer
