// What a policy said of a kernel, and what it proposed that cannot be applied, as Markdown below the hover's table. Thread: any.
#pragma once

#include "server/kernel_status.h"

#include <iosfwd>

namespace warpwright::server::features {

/// The newest analysis; each variant that is verified but cannot be written into the file, with the reason, and the source of the best of
/// them. Nothing where no policy was asked.
void write_proposed(std::ostream &out, const KernelStatus &status);

} // namespace warpwright::server::features
