// JSON messages of clients: read within limits, because they come from other machines. Thread:
// any.
#pragma once

#include "support/error.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace warpwright::trainer {

/// Longest message of a client, and the deepest nesting in it.
inline constexpr std::size_t kMessageBytes = 4 << 20;
inline constexpr int kMessageDepth = 64;

/// Errors: text that is not JSON, or is nested deeper than kMessageDepth.
Result<nlohmann::json> parse_message(std::string_view text);

/// The message as text; bytes that are no UTF-8 are replaced.
std::string message_text(const nlohmann::json &message);

} // namespace warpwright::trainer
