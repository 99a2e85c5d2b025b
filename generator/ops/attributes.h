// Typed readers of a node's attributes, as docs/internals/op-graph.md defines them. A reader returns the fallback where
// the attribute is absent or has another kind; verify_graph() checks which attributes an op must have. Readers convert
// between flags and numbers, and accept an integer for a list of one or the reverse.
#pragma once

#include "generator/ops/names.h"
#include "support/model/graph.h"

#include <cstdlib>
#include <optional>

namespace warpwright::ops {

inline const model::Attribute *find_attribute(const model::Node &node, const std::string &name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : &found->second;
}

inline std::int64_t integer_attribute(const model::Node &node, const std::string &name,
                                      std::int64_t fallback = 0) {
  const model::Attribute *attribute = find_attribute(node, name);
  if (!attribute)
    return fallback;
  if (const auto *value = std::get_if<std::int64_t>(attribute))
    return *value;
  if (const auto *value = std::get_if<double>(attribute))
    return static_cast<std::int64_t>(*value);
  if (const auto *value = std::get_if<bool>(attribute))
    return *value;
  if (const auto *list = std::get_if<model::Shape>(attribute); list && list->size() == 1)
    return list->front();
  return fallback;
}

/// Also accepts the texts "inf", "-inf" and "nan", since JSON has no such numbers.
inline double number_attribute(const model::Node &node, const std::string &name,
                               double fallback = 0) {
  const model::Attribute *attribute = find_attribute(node, name);
  if (!attribute)
    return fallback;
  if (const auto *value = std::get_if<double>(attribute))
    return *value;
  if (const auto *value = std::get_if<std::int64_t>(attribute))
    return static_cast<double>(*value);
  if (const auto *value = std::get_if<bool>(attribute))
    return *value ? 1 : 0;
  if (const auto *value = std::get_if<std::string>(attribute)) {
    char *end = nullptr;
    const double parsed = std::strtod(value->c_str(), &end);
    return end != value->c_str() ? parsed : fallback;
  }
  return fallback;
}

inline bool flag_attribute(const model::Node &node, const std::string &name,
                           bool fallback = false) {
  const model::Attribute *attribute = find_attribute(node, name);
  if (!attribute)
    return fallback;
  if (const auto *value = std::get_if<bool>(attribute))
    return *value;
  if (const auto *value = std::get_if<std::int64_t>(attribute))
    return *value != 0;
  return fallback;
}

inline std::string text_attribute(const model::Node &node, const std::string &name,
                                  std::string fallback = {}) {
  const model::Attribute *attribute = find_attribute(node, name);
  const auto *value = attribute ? std::get_if<std::string>(attribute) : nullptr;
  return value ? *value : std::move(fallback);
}

/// Returns nullopt where the attribute is absent or no list. An integer counts as a list of one.
inline std::optional<model::Shape> list_attribute(const model::Node &node,
                                                  const std::string &name) {
  const model::Attribute *attribute = find_attribute(node, name);
  if (!attribute)
    return std::nullopt;
  if (const auto *list = std::get_if<model::Shape>(attribute))
    return *list;
  if (const auto *value = std::get_if<std::int64_t>(attribute))
    return model::Shape{*value};
  return std::nullopt;
}

/// Returns a list with one number for each of `count` dimensions; a single number is repeated for all of them.
inline model::Shape list_attribute(const model::Node &node, const std::string &name,
                                   std::size_t count, std::int64_t fallback) {
  model::Shape list = list_attribute(node, name).value_or(model::Shape{});
  if (list.empty())
    list.push_back(fallback);
  if (list.size() == 1)
    list.resize(count, list.front());
  return list;
}

/// Returns the dimensions that a reduction reduces: all dimensions of the operand where `dims` is absent or empty.
/// @param rank of the operand
inline model::Shape reduced_dims(const model::Node &node, std::size_t rank) {
  model::Shape dims = list_attribute(node, "dims").value_or(model::Shape{});
  if (dims.empty())
    for (std::size_t i = 0; i < rank; ++i)
      dims.push_back(static_cast<std::int64_t>(i));
  return dims;
}

/// Returns true where the attribute `absent` names this optional operand.
inline bool is_absent(const model::Node &node, const std::string &operand) {
  const std::string absent = "," + text_attribute(node, "absent") + ",";
  return absent.find("," + operand + ",") != std::string::npos;
}

/// Returns true for a permute that swaps the last two dimensions and keeps all others.
inline bool swaps_last_two(const model::Node &node) {
  const model::Shape dims = list_attribute(node, "dims").value_or(model::Shape{});
  const auto rank = static_cast<std::int64_t>(dims.size());
  for (std::int64_t i = 0; i + 2 < rank; ++i)
    if (dims[static_cast<std::size_t>(i)] != i)
      return false;
  return node.op == op::permute && rank >= 2 && dims.back() == rank - 2;
}

} // namespace warpwright::ops
