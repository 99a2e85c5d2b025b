// Counts of a device source's words, as features: loops, calls by cost, operators, arithmetic.
// Thread: any.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpwright::trainer {

/// "source.for", 2, ...; every name is always present.
std::vector<std::pair<std::string, float>> source_numbers(std::string_view source);

} // namespace warpwright::trainer
