// JSON of plans and tasks. The decoders run after validate(), so the shapes are known to be right
// here and only expressions and names remain to be checked.
#include "support/model/json.h"
#include "support/hash.h"
#include "support/model/json_fields.h"

namespace warpwright::model {
namespace {

using nlohmann::json;
using namespace fields;

constexpr std::pair<std::string_view, Direction> kDirections[] = {
    {"in", Direction::In}, {"out", Direction::Out}, {"inout", Direction::InOut}};
constexpr std::pair<std::string_view, Distribution::Kind> kDistributions[] = {
    {"normal", Distribution::Kind::Normal},
    {"uniform", Distribution::Kind::Uniform},
    {"positive", Distribution::Kind::Positive},
    {"integers", Distribution::Kind::Integers},
    {"zeros", Distribution::Kind::Zeros}};

template <class Table, class Value>
std::string name_in(const Table &table, Value value) {
  for (const auto &[text, entry] : table)
    if (entry == value)
      return std::string(text);
  return {};
}
template <class Table>
auto value_in(const Table &table, const std::string &name) {
  for (const auto &[text, entry] : table)
    if (text == name)
      return entry;
  return std::begin(table)->second; // unreachable after validation
}

json triple(const std::array<Expression, 3> &values) {
  return {values[0].text(), values[1].text(), values[2].text()};
}

Result<std::array<Expression, 3>> triple_from(const json &object, const char *key,
                                              const std::string &where) {
  std::array<Expression, 3> values{1, 1, 1};
  const auto found = object.find(key);
  if (found == object.end())
    return values;
  for (std::size_t axis = 0; axis < found->size(); ++axis) {
    const std::string label = std::string(key) + "[" + std::to_string(axis) + "]";
    const json element = {{label, (*found)[axis]}};
    auto value = expression(element, label.c_str(), where);
    if (!value)
      return std::unexpected(value.error());
    values[axis] = *value;
  }
  return values;
}

json argument_json(const Argument &argument) {
  if (const auto *buffer = std::get_if<BufferArgument>(&argument))
    return {{"buffer", buffer->buffer}, {"offset", buffer->offset.text()}};
  if (const auto *scalar = std::get_if<ScalarArgument>(&argument))
    return {{"scalar", scalar->scalar}};
  if (const auto *size = std::get_if<SizeArgument>(&argument))
    return {{"size", size->value.text()}, {"dtype", name(size->dtype)}};
  const auto &constant = std::get<ConstantArgument>(argument);
  return {{"constant", number(constant.value)}, {"dtype", name(constant.dtype)}};
}

Result<Argument> argument_from(const json &document, const std::string &where) {
  const bool has_dtype = document.contains("dtype");
  const auto dtype = [&](Dtype absent) {
    return has_dtype ? *dtype_from_name(document["dtype"].get<std::string>()) : absent;
  };
  const int alternatives = document.contains("buffer") + document.contains("scalar") +
                           document.contains("size") + document.contains("constant");
  if (alternatives != 1 || (document.contains("offset") && !document.contains("buffer")) ||
      (has_dtype && !document.contains("size") && !document.contains("constant")))
    return fail(
        where +
            ": an argument is one of {buffer, offset}, {scalar}, {size, dtype}, {constant, dtype}",
        "Found " + document.dump());
  if (document.contains("buffer")) {
    auto offset = expression(document, "offset", where);
    if (!offset)
      return std::unexpected(offset.error());
    return BufferArgument{document["buffer"], *offset};
  }
  if (document.contains("scalar"))
    return ScalarArgument{document["scalar"]};
  if (document.contains("constant"))
    return ConstantArgument{number_from(document["constant"]), dtype(Dtype::Float32)};
  auto value = expression(document, "size", where);
  if (!value)
    return std::unexpected(value.error());
  if (is_floating(dtype(Dtype::Int32)))
    return fail(where + ".dtype: a size argument is an integer, not " +
                    document["dtype"].get<std::string>(),
                "Use {constant, dtype} for floating-point literals");
  return SizeArgument{*value, dtype(Dtype::Int32)};
}

json step_json(const Step &step) {
  if (const auto *fill = std::get_if<FillStep>(&step))
    return {{"fill", {{"buffer", fill->buffer}, {"byte", fill->byte}}}};
  const auto &launch = std::get<LaunchStep>(step);
  json arguments = json::array();
  for (const Argument &argument : launch.arguments)
    arguments.push_back(argument_json(argument));
  return {{"launch",
           {{"kernel", launch.kernel},
            {"grid", triple(launch.grid)},
            {"block", triple(launch.block)},
            {"shared_bytes", launch.shared_bytes.text()},
            {"arguments", std::move(arguments)}}}};
}

Result<Step> step_from(const json &document, const std::string &where) {
  if (document.contains("fill"))
    return FillStep{document["fill"]["buffer"], document["fill"]["byte"]};
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
  const json arguments = launch.value("arguments", json::array());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto argument = argument_from(arguments[i], inside + ".arguments[" + std::to_string(i) + "]");
    if (!argument)
      return std::unexpected(argument.error());
    step.arguments.push_back(*argument);
  }
  return step;
}

Result<Plan> decode_plan(const json &document, const std::string &where) {
  Plan plan;
  plan.source = document["source"];
  plan.options = document.value("options", std::vector<std::string>{});
  plan.moves = document.value("moves", std::vector<std::string>{});
  for (const json &temporary : document.value("temporaries", json::array())) {
    const std::string label = where + "temporaries." + temporary["name"].get<std::string>();
    auto extent = expression(temporary, "extent", label);
    if (!extent)
      return std::unexpected(extent.error());
    plan.temporaries.push_back(
        {temporary["name"], *dtype_from_name(temporary["dtype"].get<std::string>()), *extent});
  }
  for (std::size_t i = 0; i < document["steps"].size(); ++i) {
    auto step = step_from(document["steps"][i], where + "steps[" + std::to_string(i) + "]");
    if (!step)
      return std::unexpected(step.error());
    plan.steps.push_back(*step);
  }
  return plan;
}

json buffer_json(const Buffer &buffer) {
  json distribution = {{"kind", name_in(kDistributions, buffer.distribution.kind)}};
  if (buffer.distribution.kind == Distribution::Kind::Integers) {
    distribution["lower"] = buffer.distribution.lower.text();
    distribution["upper"] = buffer.distribution.upper.text();
  }
  return {{"name", buffer.name},
          {"dtype", name(buffer.dtype)},
          {"extent", buffer.extent.text()},
          {"direction", name_in(kDirections, buffer.direction)},
          {"distribution", std::move(distribution)}};
}

Result<Buffer> buffer_from(const json &document) {
  Buffer buffer;
  buffer.name = document["name"];
  const std::string where = "buffers." + buffer.name;
  buffer.dtype = *dtype_from_name(document["dtype"].get<std::string>());
  auto extent = expression(document, "extent", where);
  if (!extent)
    return std::unexpected(extent.error());
  buffer.extent = *extent;
  buffer.direction = value_in(kDirections, document["direction"]);
  if (!document.contains("distribution"))
    return buffer;
  const json &distribution = document["distribution"];
  buffer.distribution.kind = value_in(kDistributions, distribution["kind"]);
  auto lower = expression(distribution, "lower", where + ".distribution");
  auto upper = expression(distribution, "upper", where + ".distribution", Expression(256));
  if (!lower || !upper)
    return std::unexpected(lower ? upper.error() : lower.error());
  buffer.distribution.lower = *lower;
  buffer.distribution.upper = *upper;
  return buffer;
}

Result<Scalar> scalar_from(const json &document) {
  Scalar scalar;
  scalar.name = document["name"];
  const std::string where = "scalars." + scalar.name;
  scalar.dtype = *dtype_from_name(document["dtype"].get<std::string>());
  const json &value = document["value"];
  const bool special = value.is_string() && (value == "nan" || value == "inf" || value == "-inf");
  if (is_floating(scalar.dtype)) {
    if (!value.is_number() && !special)
      return fail(where + ".value: a floating-point scalar needs a number",
                  "Found " + value.dump());
    scalar.value = number_from(value);
    return scalar;
  }
  if (value.is_number_float())
    return fail(where + ".value: an integer scalar needs an integer or an expression",
                "Found " + value.dump());
  auto parsed = expression(document, "value", where);
  if (!parsed)
    return std::unexpected(parsed.error());
  scalar.value = *parsed;
  return scalar;
}

Result<void> decode_buffers_and_scalars(const json &document, Task &task) {
  for (const json &entry : document["buffers"]) {
    auto buffer = buffer_from(entry);
    if (!buffer)
      return std::unexpected(buffer.error());
    task.buffers.push_back(*buffer);
  }
  for (const json &entry : document.value("scalars", json::array())) {
    auto scalar = scalar_from(entry);
    if (!scalar)
      return std::unexpected(scalar.error());
    task.scalars.push_back(*scalar);
  }
  if (!document.contains("work"))
    return {};
  for (auto [key, member] :
       {std::pair{"bytes", &task.work.bytes}, std::pair{"flops", &task.work.flops}}) {
    if (!document["work"].contains(key))
      continue;
    auto value = expression(document["work"], key, "work");
    if (!value)
      return std::unexpected(value.error());
    *member = *value;
  }
  return {};
}

std::string dump(const json &document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace

json to_json(const Plan &plan) {
  json temporaries = json::array(), steps = json::array();
  for (const Temporary &temporary : plan.temporaries)
    temporaries.push_back({{"name", temporary.name},
                           {"dtype", name(temporary.dtype)},
                           {"extent", temporary.extent.text()}});
  for (const Step &step : plan.steps)
    steps.push_back(step_json(step));
  return {{"source", plan.source},
          {"options", plan.options},
          {"temporaries", std::move(temporaries)},
          {"steps", std::move(steps)},
          {"moves", plan.moves}};
}

json to_json(const Task &task) {
  json buffers = json::array(), scalars = json::array(), work = json::object();
  for (const Buffer &buffer : task.buffers)
    buffers.push_back(buffer_json(buffer));
  for (const Scalar &scalar : task.scalars) {
    const auto *integer = std::get_if<Expression>(&scalar.value);
    scalars.push_back(
        {{"name", scalar.name},
         {"dtype", name(scalar.dtype)},
         {"value", integer ? json(integer->text()) : number(std::get<double>(scalar.value))}});
  }
  if (task.work.bytes)
    work["bytes"] = task.work.bytes->text();
  if (task.work.flops)
    work["flops"] = task.work.flops->text();
  json document = {{"name", task.name},
                   {"file", task.file},
                   {"sizes", task.sizes},
                   {"check_sizes", task.check_sizes},
                   {"buffers", std::move(buffers)},
                   {"scalars", std::move(scalars)},
                   {"reference", to_json(task.reference)},
                   {"tolerance",
                    {{"absolute", task.tolerance.absolute},
                     {"relative", task.tolerance.relative},
                     {"error_factor", task.tolerance.error_factor}}},
                   {"work", std::move(work)}};
  if (task.reference_fp64)
    document["reference_fp64"] = to_json(*task.reference_fp64);
  return document;
}

Result<Plan> plan_from_json(const json &document) {
  if (auto valid = validate(document, Schema::Plan); !valid)
    return std::unexpected(valid.error());
  return decode_plan(document, "");
}

Result<Task> task_from_json(const json &document) {
  if (auto valid = validate(document, Schema::Task); !valid)
    return std::unexpected(valid.error());
  Task task;
  task.name = document["name"];
  task.file = document.value("file", "");
  task.sizes = document["sizes"].get<Sizes>();
  task.check_sizes = document.value("check_sizes", std::vector<Sizes>{});
  if (auto decoded = decode_buffers_and_scalars(document, task); !decoded)
    return std::unexpected(decoded.error());
  const json tolerance = document.value("tolerance", json::object());
  task.tolerance.absolute = tolerance.value("absolute", task.tolerance.absolute);
  task.tolerance.relative = tolerance.value("relative", task.tolerance.relative);
  task.tolerance.error_factor = tolerance.value("error_factor", task.tolerance.error_factor);
  auto reference = decode_plan(document["reference"], "reference.");
  if (!reference)
    return std::unexpected(reference.error());
  task.reference = *reference;
  if (document.contains("reference_fp64")) {
    auto reference_fp64 = decode_plan(document["reference_fp64"], "reference_fp64.");
    if (!reference_fp64)
      return std::unexpected(reference_fp64.error());
    task.reference_fp64 = *reference_fp64;
  }
  for (const Plan *plan : {&task.reference, task.reference_fp64 ? &*task.reference_fp64 : nullptr})
    if (plan)
      if (auto checked = check_plan(*plan, task); !checked)
        return fail("the task's reference: " + checked.error().message, checked.error().remedy);
  return task;
}

std::string hash(const Task &task) {
  json document = to_json(task);
  document.erase("name");
  document.erase("file");
  return sha256_hex(dump(document));
}

std::string hash(const Plan &plan) {
  json document = to_json(plan);
  document.erase("moves");
  return sha256_hex(dump(document));
}

} // namespace warpwright::model
