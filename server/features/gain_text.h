// First lines on a measured kernel, for the hover and the kernel's page: how much faster its
// variant is, and why. Thread: any.
#pragma once

#include "server/kernel_status.h"

#include <iosfwd>

namespace warpwright::server::features {

/// Text for a table's cell or a line: no pipes, no line ends, not too long.
std::string cell(std::string text);

/// "NVIDIA H200, 2026-11-22".
std::string where_text(const model::Verdict &verdict);

/// Writes ": 6.23x faster than the code as written, 499 us -> 80.1 us on NVIDIA H200 [6.20, 6.25],
/// 2026-11-22", the bound before and after, the contribution of each move, and where PyTorch's own
/// code is faster, that it should be kept. Continues the line that names the kernel.
void write_gain(std::ostream &out, const KernelStatus &status);

/// "tiled_transpose(rows=4) 6.22x, launch_bounds(blocks=1) 1.00x (no measurable effect)"; without
/// measured parts the moves alone.
std::string moves_with_contributions(const runner::LedgerEntry &entry, const KernelStatus &status);

} // namespace warpwright::server::features
