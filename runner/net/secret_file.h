// Files that hold what proves who somebody is: a key, tokens. Thread: any.
#pragma once

#include "support/error.h"

#include <string>

namespace warpwright::runner::net {

/// Refuses a file that others may read or write. A file of root may be read by its group, as systems keep keys of services.
/// @param what "key", for the message
/// Errors: it cannot be looked at; its mode is too wide, and the command that mends it.
Result<void> check_secret_file(const std::string &path, const std::string &what);

} // namespace warpwright::runner::net
