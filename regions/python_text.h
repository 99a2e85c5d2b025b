// Text of Python files that hold a region's program.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace warpwright::regions {

/// "a, b, c"
std::string list_of(const std::vector<std::string> &parts);

/// Python text of {"size": TERMS}, a sum of products: [[12, "n0", "n1"], [1]] is 12 * n0 * n1 + 1.
/// @param owner "self." in methods, "" in functions that have the sizes as parameters
std::string size_text(const nlohmann::json &terms, const std::string &owner);

} // namespace warpwright::regions
