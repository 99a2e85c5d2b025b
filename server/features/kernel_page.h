// The page of a kernel in Markdown: why its variant is faster, both points of the roofline,
// hardware counters with their meaning, every attempt with the reasons of refusals, and
// machine code. Thread: any.
#pragma once

#include "server/features/features.h"

namespace warpwright::server::features {

/// The variant that the page explains; null: none is verified.
const runner::LedgerEntry *explained_entry(const KernelStatus &status);

/// @param machine_code Markdown on the machine code of both sides, or why there is none
std::string kernel_page(const Context &context, const analysis::Kernel &kernel,
                        const std::string &machine_code);

/// Meaning of a hardware counter of model::PlanCounters; empty: not described.
std::string counter_meaning(const std::string &name);

} // namespace warpwright::server::features
