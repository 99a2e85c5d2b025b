// Markdown below the hover's table: a policy's analysis of a kernel, and its proposals that cannot
// be applied. Thread: any.
#pragma once

#include "server/kernel_status.h"

#include <iosfwd>

namespace warpwright::server::features {

/// Writes the newest analysis, each verified variant that cannot be written into the file with the
/// reason, and the source of the best such variant. Writes nothing if no policy was asked.
void write_proposed(std::ostream &out, const KernelStatus &status);

} // namespace warpwright::server::features
