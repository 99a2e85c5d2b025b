// JSON of ATen steps: views, and arguments whose JSON type selects their alternative.
//
// A number that is not an integer is a double, so 1.0 must not be written as 1 if the operator
// distinguishes them. Infinities, which JSON lacks, are {"number": "-inf"}.
#include "support/model/json_fields.h"
#include "support/model/plan_json.h"

namespace warpwright::model {
namespace {

using nlohmann::json;

json view_json(const TensorView &view) {
  if (view.buffer.empty())
    return nullptr;
  json document = {{"buffer", view.buffer}, {"offset", view.offset}, {"shape", view.shape}};
  if (!view.strides.empty())
    document["strides"] = view.strides;
  return document;
}

TensorView view_from(const json &document) {
  if (document.is_null())
    return {};
  return {document["buffer"], document.value("offset", std::int64_t{0}),
          document["shape"].get<std::vector<std::int64_t>>(),
          document.value("strides", std::vector<std::int64_t>{})};
}

struct ArgumentJson {
  json operator()(std::monostate) const { return nullptr; }
  json operator()(const TensorView &view) const { return {{"tensor", view_json(view)}}; }
  json operator()(const std::vector<TensorView> &views) const {
    json list = json::array();
    for (const TensorView &view : views)
      list.push_back(view_json(view));
    return {{"tensors", std::move(list)}};
  }
  json operator()(double value) const { return fields::wrapped_number(value); }
  template <class T>
  json operator()(const T &value) const {
    return value;
  }
};

AtenArgument argument_from(const json &document) {
  if (document.is_null())
    return std::monostate{};
  if (document.is_boolean())
    return document.get<bool>();
  if (document.is_number_integer())
    return document.get<std::int64_t>();
  if (document.is_string())
    return document.get<std::string>();
  if (document.is_array())
    return document.get<std::vector<std::int64_t>>();
  if (document.contains("tensor"))
    return view_from(document["tensor"]);
  if (!document.contains("tensors"))
    return fields::wrapped_number_from(document);
  std::vector<TensorView> views;
  for (const json &view : document["tensors"])
    views.push_back(view_from(view));
  return views;
}

} // namespace

json to_json(const AtenStep &step) {
  json arguments = json::array(), keywords = json::object(), results = json::array();
  for (const AtenArgument &argument : step.arguments)
    arguments.push_back(std::visit(ArgumentJson{}, argument));
  for (const auto &[name, argument] : step.keywords)
    keywords[name] = std::visit(ArgumentJson{}, argument);
  for (const TensorView &view : step.results)
    results.push_back(view_json(view));
  return {{"op", step.op},
          {"arguments", std::move(arguments)},
          {"keywords", std::move(keywords)},
          {"results", std::move(results)}};
}

AtenStep aten_step_from_valid_json(const json &document) {
  AtenStep step;
  step.op = document["op"];
  for (const json &argument : document.value("arguments", json::array()))
    step.arguments.push_back(argument_from(argument));
  for (const auto &[name, argument] : document.value("keywords", json::object()).items())
    step.keywords.emplace(name, argument_from(argument));
  for (const json &view : document["results"])
    step.results.push_back(view_from(view));
  return step;
}

} // namespace warpwright::model
