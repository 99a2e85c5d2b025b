// Closed forms of tables of integers. Paddings and resamplings index by tables whose values run on evenly in a few pieces, and a choice
// between sums costs less than a load from a table.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::elements {

/// C++ text of the table's element at an index, the name of an int that lies within it; of type int.
using TableForm = std::function<std::string(const std::string &index)>;

/// @return nullopt where the table has no short form, or holds what is no int
std::optional<TableForm> table_form(const std::vector<double> &table);

} // namespace warpwright::elements
