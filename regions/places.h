// Arguments of a region's program: JSON in which {"v": [k, i]} stands for result i of value k.
#pragma once

#include <nlohmann/json.hpp>

namespace warpwright::regions {

/// Calls `visit` for each place [k, i] that an argument reads, in order.
/// @param argument json, or const json for a visit that changes nothing
template <class Json, class Visit>
void for_each_place(Json &argument, const Visit &visit) {
  if (argument.is_object() && argument.contains("v"))
    visit(argument["v"]);
  else if (argument.is_structured())
    for (auto &part : argument)
      for_each_place(part, visit);
}

} // namespace warpwright::regions
