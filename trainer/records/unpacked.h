// Text of a file, also of a packed one: ".xz" and ".gz" are read through `xz` and `gzip`. Thread: any.
#pragma once

#include "support/error.h"

#include <string>

namespace warpwright::trainer {

/// Errors: the file cannot be read; the program that unpacks it is missing or fails.
Result<std::string> unpacked_text(const std::string &path);

} // namespace warpwright::trainer
