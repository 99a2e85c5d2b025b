// JSON of plans and of their launches; aten_json.cpp has ATen steps.
#include "support/model/plan_json.h"
#include "support/model/json.h"
#include "support/model/json_fields.h"

namespace warpwright::model {
namespace {

using nlohmann::json;
using namespace fields;

json triple(const std::array<symbolic::Expression, 3> &values) {
  return {values[0].text(), values[1].text(), values[2].text()};
}

Result<std::array<symbolic::Expression, 3>> triple_from(const json &object, const char *key,
                                                        const std::string &where) {
  std::array<symbolic::Expression, 3> values{1, 1, 1};
  const auto found = object.find(key);
  if (found == object.end())
    return values;
  for (std::size_t axis = 0; axis < found->size(); ++axis) {
    const std::string label = std::string(key) + "[" + std::to_string(axis) + "]";
    const json element = {{label, (*found)[axis]}};
    auto value = TRY(expression(element, label.c_str(), where));
    values[axis] = value;
  }
  return values;
}

json texts_of(const std::vector<symbolic::Expression> &values) {
  json texts = json::array();
  for (const symbolic::Expression &value : values)
    texts.push_back(value.text());
  return texts;
}

json argument_json(const Argument &argument) {
  if (const auto *whole = std::get_if<StructArgument>(&argument)) {
    json fields = json::array();
    for (const StructArgument::Field &field : whole->fields) {
      json document = std::visit([](const auto &value) { return argument_json(value); }, field.value);
      document["at"] = field.offset;
      fields.push_back(std::move(document));
    }
    return {{"struct_bytes", whole->size_bytes}, {"fields", std::move(fields)}};
  }
  if (const auto *buffer = std::get_if<BufferArgument>(&argument)) {
    json document = {{"buffer", buffer->buffer}, {"offset", buffer->offset.text()}};
    if (const auto &map = buffer->map) {
      document["map"] = {{"extents", texts_of(map->extents)},
                         {"strides", texts_of(map->strides)},
                         {"box", map->box},
                         {"swizzle_bytes", map->swizzle_bytes}};
      if (map->rounds_to_tf32)
        document["map"]["rounds_to_tf32"] = true;
      if (const auto &window = map->window)
        document["map"]["window"] = {
            {"first", window->first}, {"last", window->last}, {"steps", window->steps}};
    }
    return document;
  }
  if (const auto *scalar = std::get_if<ScalarArgument>(&argument))
    return {{"scalar", scalar->scalar}};
  if (const auto *size = std::get_if<SizeArgument>(&argument))
    return {{"size", size->value.text()}, {"dtype", name(size->dtype)}};
  const auto &constant = std::get<ConstantArgument>(argument);
  return {{"constant", number(constant.value)}, {"dtype", name(constant.dtype)}};
}

Result<std::vector<symbolic::Expression>> expressions(const json &document, const char *field,
                                                      const std::string &where) {
  std::vector<symbolic::Expression> values;
  for (const json &one : document.at(field))
    values.push_back(TRY(expression(json{{field, one}}, field, where)));
  return values;
}

Result<TensorMap> map_from(const json &document, const std::string &where) {
  TensorMap map{.box = document.at("box"), .swizzle_bytes = document.value("swizzle_bytes", 0)};
  map.extents = TRY(expressions(document, "extents", where));
  map.strides = TRY(expressions(document, "strides", where));
  map.rounds_to_tf32 = document.value("rounds_to_tf32", false);
  if (document.contains("window")) {
    const json &window = document["window"];
    map.window = MapWindow{window.at("first"), window.at("last"), window.at("steps")};
  }
  return map;
}

Result<PlainArgument> plain_argument_from(const json &document, const std::string &where) {
  const bool has_dtype = document.contains("dtype");
  const auto dtype = [&](Dtype absent) {
    return has_dtype ? *dtype_from_name(document["dtype"].get<std::string>()) : absent;
  };
  const int alternatives = document.contains("buffer") + document.contains("scalar") +
                           document.contains("size") + document.contains("constant");
  const bool is_of_buffer = document.contains("offset") || document.contains("map");
  if (alternatives != 1 || (is_of_buffer && !document.contains("buffer")) ||
      (has_dtype && !document.contains("size") && !document.contains("constant")))
    return fail(where + ": an argument is one of {buffer, offset, map}, {scalar}, {size, dtype}, "
                        "{constant, dtype}, {struct_bytes, fields}",
                "Found " + document.dump());
  if (document.contains("buffer")) {
    BufferArgument argument{document["buffer"], TRY(expression(document, "offset", where))};
    if (document.contains("map"))
      argument.map = TRY(map_from(document["map"], where + ".map"));
    return argument;
  }
  if (document.contains("scalar"))
    return ScalarArgument{document["scalar"]};
  if (document.contains("constant"))
    return ConstantArgument{number_from(document["constant"]), dtype(Dtype::Float32)};
  auto value = TRY(expression(document, "size", where));
  if (is_floating(dtype(Dtype::Int32)))
    return fail(where + ".dtype: a size argument is an integer, not " +
                    document["dtype"].get<std::string>(),
                "Use {constant, dtype} for floating-point literals");
  return SizeArgument{value, dtype(Dtype::Int32)};
}

Result<Argument> argument_from(const json &document, const std::string &where) {
  if (document.contains("at"))
    return fail(where + ".at: only fields of a struct have a place");
  if (!document.contains("struct_bytes")) {
    auto plain = TRY(plain_argument_from(document, where));
    return std::visit([](auto &value) -> Argument { return std::move(value); }, plain);
  }
  StructArgument whole{.size_bytes = document["struct_bytes"], .fields = {}};
  for (const json &field : document.value("fields", json::array()))
    whole.fields.push_back({field.value("at", std::int64_t{0}), TRY(plain_argument_from(field, where + ".fields"))});
  return whole;
}

json module_json(const ModuleStep &step) {
  json document = {{"compiled", step.compiled}};
  if (!step.mode.empty())
    document["mode"] = step.mode;
  if (!step.source.empty()) {
    document["source"] = step.source;
    document["model"] = step.model;
  }
  if (step.exported)
    document["exported"] = true;
  if (!step.files.empty())
    document["files"] = step.files;
  return {{"module", std::move(document)}};
}

json step_json(const Step &step) {
  if (const auto *aten = std::get_if<AtenStep>(&step))
    return {{"aten", to_json(*aten)}};
  if (const auto *module = std::get_if<ModuleStep>(&step))
    return module_json(*module);
  if (const auto *fill = std::get_if<FillStep>(&step))
    return {{"fill", {{"buffer", fill->buffer}, {"byte", fill->byte}}}};
  const auto &launch = std::get<LaunchStep>(step);
  json arguments = json::array();
  for (const Argument &argument : launch.arguments)
    arguments.push_back(argument_json(argument));
  json document = {{"kernel", launch.kernel},
                   {"grid", triple(launch.grid)},
                   {"block", triple(launch.block)},
                   {"shared_bytes", launch.shared_bytes.text()},
                   {"arguments", std::move(arguments)}};
  if (launch.cooperative) // absent if false, so that older plans keep their hashes
    document["cooperative"] = true;
  if (launch.overlapped)
    document["overlapped"] = true;
  return {{"launch", std::move(document)}};
}

Result<Step> step_from(const json &document, const std::string &where) {
  if (document.contains("fill"))
    return FillStep{document["fill"]["buffer"], document["fill"]["byte"]};
  if (document.contains("aten"))
    return aten_step_from_valid_json(document["aten"]);
  if (document.contains("module")) {
    const json &module = document["module"];
    return ModuleStep{module.value("compiled", false),
                      module.value("source", ""),
                      module.value("model", ModuleStep{}.model),
                      module.value("mode", ""),
                      module.value("exported", false),
                      module.value("files", std::map<std::string, std::string>())};
  }
  const json &launch = document["launch"];
  const std::string inside = where + ".launch";
  LaunchStep step;
  step.kernel = launch["kernel"];
  auto grid = triple_from(launch, "grid", inside);
  auto block = triple_from(launch, "block", inside);
  auto shared = expression(launch, "shared_bytes", inside);
  for (const Error *error : {grid ? nullptr : &grid.error(), block ? nullptr : &block.error(),
                             shared ? nullptr : &shared.error()})
    if (error)
      return std::unexpected(*error);
  step.grid = *grid;
  step.block = *block;
  step.shared_bytes = *shared;
  step.cooperative = launch.value("cooperative", false);
  step.overlapped = launch.value("overlapped", false);
  const json arguments = launch.value("arguments", json::array());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    step.arguments.push_back(
        TRY(argument_from(arguments[i], inside + ".arguments[" + std::to_string(i) + "]")));
  }
  return step;
}

} // namespace

Result<Plan> plan_from_valid_json(const json &document, const std::string &where) {
  Plan plan;
  plan.source = document["source"];
  plan.options = document.value("options", std::vector<std::string>{});
  plan.moves = document.value("moves", std::vector<std::string>{});
  plan.separable = document.value("separable", false);
  for (const json &temporary : document.value("temporaries", json::array())) {
    const std::string label = where + "temporaries." + temporary["name"].get<std::string>();
    auto extent = TRY(expression(temporary, "extent", label));
    plan.temporaries.push_back(
        {temporary["name"], *dtype_from_name(temporary["dtype"].get<std::string>()), extent});
  }
  for (std::size_t i = 0; i < document["steps"].size(); ++i) {
    plan.steps.push_back(
        TRY(step_from(document["steps"][i], where + "steps[" + std::to_string(i) + "]")));
  }
  return plan;
}

json to_json(const Plan &plan) {
  json temporaries = json::array(), steps = json::array();
  for (const Temporary &temporary : plan.temporaries)
    temporaries.push_back({{"name", temporary.name},
                           {"dtype", name(temporary.dtype)},
                           {"extent", temporary.extent.text()}});
  for (const Step &step : plan.steps)
    steps.push_back(step_json(step));
  json document{{"source", plan.source},
                {"options", plan.options},
                {"temporaries", std::move(temporaries)},
                {"steps", std::move(steps)},
                {"moves", plan.moves}};
  if (plan.separable)
    document["separable"] = true;
  return document;
}

Result<Plan> plan_from_json(const json &document) {
  TRY(validate(document, Schema::Plan));
  return plan_from_valid_json(document, "");
}

Result<Plan> proposed_plan_from_json(const json &document) {
  Plan plan = TRY(plan_from_json(document));
  plan.moves.clear();
  plan.separable = false;
  return plan;
}

} // namespace warpwright::model
