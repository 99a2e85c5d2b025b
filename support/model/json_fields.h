// Small conversions shared by the JSON of tasks, plans and verdicts. Private to support/model.
#pragma once

#include "support/error.h"
#include "support/symbolic/expression.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace warpwright::model::fields {

using nlohmann::json;

/// JSON of a double. JSON lacks NaN and infinities, so they are strings.
inline json number(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return value;
}

inline double number_from(const json &value) {
  if (value.is_number())
    return value.get<double>();
  const std::string text = value;
  if (text == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "-inf" ? -infinity : infinity;
}

/// Like number(), for places where strings have another meaning: {"number": "inf"}.
inline json wrapped_number(double value) {
  return std::isfinite(value) ? json(value) : json{{"number", number(value)}};
}
inline double wrapped_number_from(const json &value) {
  return number_from(value.is_object() ? value["number"] : value);
}

/// The expression at `object[key]`, or `absent` when there is none. Errors name `where`.
inline Result<symbolic::Expression> expression(const json &object, const char *key,
                                               const std::string &where,
                                               symbolic::Expression absent = {}) {
  const auto found = object.find(key);
  if (found == object.end())
    return absent;
  if (found->is_number_integer())
    return symbolic::Expression(found->get<std::int64_t>());
  auto parsed = symbolic::Expression::parse(found->get<std::string>());
  if (!parsed)
    return fail(where + "." + key + ": " + parsed.error().message, parsed.error().remedy);
  return parsed;
}

} // namespace warpwright::model::fields
