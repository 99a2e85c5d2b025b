// JSON of analysis facts, for `warpwright analyze --json`. Thread: any.
#pragma once

#include "analysis/facts.h"

#include <nlohmann/json.hpp>

namespace warpwright::cli {

nlohmann::json to_json(const analysis::FileFacts &facts);

/// Names in the JSON: "global", "shared", ...; "coalesced", "strided", ...; "error", "warning",
/// ...; "scan", "stub", "full".
std::string name(analysis::MemorySpace space);
std::string name(analysis::AccessPattern pattern);
std::string name(analysis::Severity severity);
std::string name(analysis::Pass pass);

} // namespace warpwright::cli
