#include "regions/drawing.h"

#include "regions/python_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace warpwright::regions {
namespace {

using nlohmann::json;

/// Minimum spread of inputs that a real call has constant, as a fraction of their value, and minimum share of each
/// truth value: they vary a little, so that a plan cannot rely on their value.
constexpr double kLeastSpread = 0.05;

/// Where a dimension of an input is among those that are drawn, which follow its order in memory.
std::size_t place_of(const json &input, std::size_t dimension) {
  if (input["order"].empty())
    return dimension;
  const auto order = input["order"].get<std::vector<std::size_t>>();
  return static_cast<std::size_t>(std::ranges::find(order, dimension) - order.begin());
}

/// Dimension of a drawn input along which its integers never fall.
std::optional<std::size_t> ascending_dimension(const json &input, const json &profile) {
  const std::size_t rank = input["shape"].size();
  std::optional<std::size_t> dimension;
  if (profile.is_object() && profile.contains("ascending"))
    dimension = profile["ascending"].get<std::size_t>();
  else if (input.contains("ascending") && rank > 0)
    dimension = rank - 1;
  return dimension ? std::optional(place_of(input, *dimension)) : std::nullopt;
}

/// Python functions that drawings call, by their names.
const std::map<std::string, std::string> kDrawingFunctions = {
    {"ascending", "def ascending(values, dim, first):\n"
                  "    values = values.sort(dim).values\n"
                  "    return values - values.narrow(dim, 0, 1) + first\n"},
    {"distinct", "def distinct(low, end, shape, dim):\n"
                 "    wide = list(shape)\n"
                 "    wide[dim] = end - low\n"
                 "    return low + torch.rand(wide).argsort(dim).narrow(dim, 0, shape[dim])\n"},
    {"within", "def within(values, low, high): # reflected at the ends\n"
               "    values = low + (values - low).abs()\n"
               "    return (high - (high - values).abs()).clamp_min(low)\n"}};

/// Integers of a range, or those of it that a real call had.
std::string values_drawing(const json &input, const json &profile, const std::string &shape, std::string low, std::string end) {
  const std::string type = "dtype=torch." + input["dtype"].get<std::string>() + ")";
  const bool is_fixed = !input.value("below", json(2)).is_object() &&
                        std::ranges::all_of(input["shape"], [](const json &extent) { return extent.is_number(); });
  const bool is_distinct = is_fixed && profile.contains("distinct"), has_values = is_fixed && profile.contains("values");
  if (!is_distinct && !has_values)
    return "torch.randint(" + low + ", " + end + ", " + shape + ", " + type;
  if (has_values) {
    low = "0";
    end = std::to_string(profile["values"].size());
  }
  std::string drawn;
  if (is_distinct && profile["distinct"] == -1) {
    drawn = "distinct(" + low + ", " + end + ", [torch.Size(" + shape + ").numel()], 0).reshape(" + shape + ")";
  } else if (is_distinct) {
    const std::size_t dimension = place_of(input, profile["distinct"].get<std::size_t>());
    drawn = "distinct(" + low + ", " + end + ", " + shape + ", " + std::to_string(dimension) + ")";
  } else {
    std::vector<double> bounds;
    for (const json &share : profile["shares"])
      bounds.push_back(share.get<double>() + (bounds.empty() ? 0 : bounds.back()));
    bounds.pop_back();
    drawn = "torch.bucketize(torch.rand(" + shape + "), torch.tensor(" + json(bounds).dump() + "))";
  }
  return has_values ? "torch.tensor(" + profile["values"].dump() + ", " + type + "[" + drawn + "]" : drawn + ".to(" + type;
}

std::string integer_drawing(const json &input, const json &given, const std::string &shape) {
  const bool known = given.is_object() && given.contains("low");
  const json profile = known ? given : json::object(), below = input.value("below", json(2)); // an index reaches all elements
  const std::string limit = below.is_object() ? size_text(below.at("size"), "") : below.dump(),
                    low = known ? profile["low"].dump() : "0";
  std::string end = known ? std::to_string(profile["high"].get<std::int64_t>() + 1) : limit;
  if (known && below.is_object()) // at another size an index of the call may be too large
    end = "min(" + end + ", " + limit + ")";
  std::string drawn = values_drawing(input, profile, shape, low, end);
  if (profile.contains("mark"))
    drawn = "torch.where(torch.rand(" + shape + ") < " + profile["mark"]["share"].dump() + ", " +
            profile["mark"]["value"].dump() + ", " + drawn + ")";
  const auto dimension = ascending_dimension(input, profile);
  return dimension ? "ascending(" + drawn + ", " + std::to_string(*dimension) + ", " + low + ")" : drawn;
}

std::string number_drawing(const json &profile, const std::string &drawn) {
  if (!profile.is_object() || !profile.contains("mean"))
    return drawn;
  const auto text = [](double value) { return json(value).dump(); };
  const double mean = profile["mean"].get<double>(), low = profile["low"].get<double>(),
               high = profile.value("high", std::numeric_limits<double>::infinity());
  if (low < high && std::isfinite(high))
    return "within(" + text(mean) + " + " + text(profile["std"].get<double>()) + " * " + drawn + ", " + text(low) + ", " + text(high) + ")";
  const double spread = std::max(profile["std"].get<double>(), kLeastSpread * std::abs(mean));
  const std::string varied = "(" + text(mean) + " + " + text(spread) + " * " + drawn + ")";
  return low < 0 ? varied : varied + ".abs().clamp_min(" + text(low / 2) + ")";
}

} // namespace

std::string drawing(const json &input, const json &profile) {
  std::vector<std::string> extents;
  for (const json &extent : input["shape"])
    extents.push_back(extent.is_object() ? size_text(extent.at("size"), "") : extent.dump());
  const std::string dtype = input["dtype"].get<std::string>(), shape = "[" + list_of(extents) + "]";
  if (dtype == "bool") {
    const double share = profile.is_object() ? profile.value("share", 0.5) : 0.5;
    return "torch.rand(" + shape + ") < " + json(std::clamp(share, kLeastSpread, 1 - kLeastSpread)).dump();
  }
  if (dtype.find("float") == std::string::npos)
    return integer_drawing(input, profile, shape);
  return number_drawing(profile, "torch.randn(" + shape + ")") + (dtype == "float32" ? "" : ".to(torch." + dtype + ")");
}

std::string drawing_functions(const std::string &drawings) {
  std::string text;
  for (const auto &[name, function] : kDrawingFunctions)
    if (drawings.contains(name + "("))
      text += "\n\n" + function;
  return text;
}

} // namespace warpwright::regions
