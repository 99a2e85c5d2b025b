// Where a source says its sizes, and the same source with others.
//
// A size is declared once: `// warpwright: rows = 4096, ...`, `const int rows = 4096;`, `constexpr int`, `#define rows 4096`, or, in Python,
// `rows = 4096` at the start of a line. Nothing is parsed: the sources are the suite's own, and its test runs all of them. Further
// sizes after `check` stay as they are. Thread: any.
#pragma once

#include "support/symbolic/expression.h"
#include "support/text.h"

#include <optional>
#include <string>

namespace warpwright::trainer {

/// The digits of the size's value. nullopt: the source declares it nowhere, or more than once.
std::optional<Range> declared_size(const std::string &text, const std::string &name);

/// Errors: a size that is not declared once, by its name.
Result<std::string> with_sizes(const std::string &text, const symbolic::Sizes &sizes);

} // namespace warpwright::trainer
