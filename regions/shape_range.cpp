#include "regions/shape_range.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace warpwright::regions {
namespace {

using nlohmann::json;

Result<symbolic::FittedText> text_from_json(const json &document) {
  symbolic::FittedText text;
  text.parts = document.at("parts").get<std::vector<std::string>>();
  for (const json &one : document.at("values")) {
    auto value = symbolic::Expression::parse(one.get<std::string>());
    if (!value)
      return std::unexpected(value.error());
    text.values.push_back(std::move(*value));
  }
  if (text.parts.size() != text.values.size() + 1)
    return fail("a text with expressions has " + std::to_string(text.parts.size()) + " parts");
  return text;
}

} // namespace

ShapeRange range_of_one(const symbolic::Sizes &sizes, const std::string &literal) {
  ShapeRange range;
  for (const auto &[name, size] : sizes) {
    range.symbols.push_back(name);
    range.low.push_back(size);
  }
  range.high = range.low;
  range.literal.parts = {literal};
  return range;
}

bool holds(const ShapeRange &range, const std::vector<std::int64_t> &sizes) {
  bool is_inside = sizes.size() == range.symbols.size();
  for (std::size_t i = 0; is_inside && i < sizes.size(); ++i)
    is_inside = range.low[i] <= sizes[i] && sizes[i] <= range.high[i];
  return is_inside;
}

Result<json> instance_of(const ShapeRange &range, const std::vector<std::int64_t> &sizes) {
  if (!holds(range, sizes))
    return fail("no plan was verified for these sizes");
  symbolic::Sizes named;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    named[range.symbols[i]] = sizes[i];
  const auto plan = range.literal.at(named);
  if (!plan)
    return std::unexpected(plan.error());
  json constants = json::array();
  for (const SizeConstant &one : range.constants) {
    const auto value = one.value.evaluate(named);
    if (!value)
      return std::unexpected(value.error());
    if (one.dtype == model::Dtype::Int32 && *value > std::numeric_limits<std::int32_t>::max())
      return fail("a number of the kernels has more than 32 bits at these sizes");
    constants.push_back({one.name, std::string(model::name(one.dtype)), *value});
  }
  return json{{"plan", *plan}, {"constants", std::move(constants)}};
}

json to_json(const ShapeRange &range) {
  json values = json::array(), constants = json::array();
  for (const symbolic::Expression &value : range.literal.values)
    values.push_back(value.text());
  for (const SizeConstant &one : range.constants)
    constants.push_back({{"name", one.name}, {"dtype", std::string(model::name(one.dtype))}, {"value", one.value.text()}});
  return {{"symbols", range.symbols},
          {"low", range.low},
          {"high", range.high},
          {"literal", {{"parts", range.literal.parts}, {"values", std::move(values)}}},
          {"constants", std::move(constants)}};
}

Result<ShapeRange> range_from_json(const json &document) {
  try {
    ShapeRange range{document.at("symbols"), document.at("low"), document.at("high"), {}, {}};
    auto literal = text_from_json(document.at("literal"));
    if (!literal)
      return std::unexpected(literal.error());
    range.literal = std::move(*literal);
    for (const json &one : document.at("constants")) {
      const auto dtype = model::dtype_from_name(one.at("dtype").get<std::string>());
      auto value = symbolic::Expression::parse(one.at("value").get<std::string>());
      if (!dtype || !value)
        return fail("a range of sizes has a constant of another form");
      range.constants.push_back({one.at("name"), *dtype, std::move(*value)});
    }
    if (range.low.size() != range.symbols.size() || range.high.size() != range.symbols.size())
      return fail("a range of sizes has other symbols than limits");
    return range;
  } catch (const json::exception &error) {
    return fail(std::string("a range of sizes is malformed: ") + error.what());
  }
}

} // namespace warpwright::regions
