// Small texts for people: lists, numbers and dates.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace warpwright {

/// Texts of `items`, joined by `separator`. @param text function that gives the text of an item
template <class Items, class Text = std::identity>
std::string joined(const Items &items, std::string_view separator, Text text = {}) {
  std::string all;
  for (const auto &item : items)
    all.append(all.empty() ? "" : separator).append(std::invoke(text, item));
  return all;
}

/// A number in a printf pattern: "%.2fx" gives "2.31x".
std::string printed(const char *pattern, double value);

/// Now, in UTC: "2026-11-24T08:55:46Z".
std::string utc_now();

} // namespace warpwright
