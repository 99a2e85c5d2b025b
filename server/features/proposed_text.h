// Markdown about a policy's proposals: its analysis of a kernel, and proposals that cannot be
// applied. Thread: any.
#pragma once

#include "server/kernel_status.h"

#include <iosfwd>

namespace warpwright::server::features {

/// "**Analysis** (builtin policy): The kernel is held back by memory traffic.", the newest
/// analysis; empty: no policy was asked.
std::string analysis_text(const KernelStatus &status);

/// The first sentence of analysis_text().
std::string analysis_sentence(const KernelStatus &status);

/// Writes a line for each verified variant that cannot be written into the file, with the reason.
void write_not_applicable(std::ostream &out, const KernelStatus &status);

/// Writes the source of the best variant that cannot be written into the file, if there is one.
void write_proposed_source(std::ostream &out, const KernelStatus &status);

} // namespace warpwright::server::features
