// Closed forms of integer tables, as C++ text. Paddings and resamplings index by tables that are linear in a few
// pieces, and a choice between a few sums costs less than a load from a table.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::elements {

/// Returns C++ text, of type int, of the table's element at `index`, the name of an int that is a valid index.
using TableForm = std::function<std::string(const std::string &index)>;

/// @return nullopt where the table has no short form, or holds a number that is not an int
std::optional<TableForm> table_form(const std::vector<double> &table);

} // namespace warpwright::elements
