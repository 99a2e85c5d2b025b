// Permission check of files with secrets, such as keys and tokens. Thread: any.
#pragma once

#include "support/error.h"

#include <string>

namespace warpwright::runner::net {

/// Refuses a file that others may read or write. Root's files may be readable by their group, which
/// is how systems keep keys of services.
/// @param what "key", for the message
/// Errors: the file's status cannot be read; its mode is too wide (the message names the chmod
/// command).
Result<void> check_secret_file(const std::string &path, const std::string &what);

} // namespace warpwright::runner::net
