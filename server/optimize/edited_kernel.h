// An edit that somebody else made of a kernel, as a candidate for the task of the original.
//
// The task (reference, sizes, inputs, tolerance) comes from the original alone. Of the edited file
// count the kernel, the device code that it uses, and its launch; other host code stays as it was.
// Thread: any.
#pragma once

#include "analysis/analyze.h"
#include "runner/connect/connect.h"
#include "runner/ledger/ledger.h"

namespace warpwright::server {

/// @param original of the task @param kernel with an inferred task
/// @param proposer name for the ledger: "agent"
/// @return the ledger's entry without its verdict
/// Errors: the edited text does not parse, lacks the kernel or its launch, or launches it in a way
/// that the task cannot express; its kernel is the same as the original.
Result<runner::LedgerEntry> edited_kernel(const analysis::SourceFile &original,
                                          const analysis::ParseSettings &original_settings,
                                          const analysis::Kernel &kernel,
                                          const analysis::SourceFile &edited,
                                          const analysis::ParseSettings &edited_settings,
                                          const std::string &proposer);

} // namespace warpwright::server
