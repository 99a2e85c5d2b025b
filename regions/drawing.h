// Python text that draws a region's inputs as a real call had them.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace warpwright::regions {

/// An expression for one input, with its dimensions in the order of memory.
/// @param input of a program's document
/// @param profile what profile_of() of runtime/warpwright/jobs.py gives; null: unknown
std::string drawing(const nlohmann::json &input, const nlohmann::json &profile);

/// Definitions of the functions that `drawings` call.
std::string drawing_functions(const std::string &drawings);

} // namespace warpwright::regions
