// JSON of tasks. The decoders run after validate(), so the shapes are right, and only expressions
// and names remain to be checked.
#include "support/model/json.h"
#include "support/hash.h"
#include "support/model/json_fields.h"
#include "support/model/plan_json.h"
#include "support/model/tolerance.h"

#include <algorithm>

namespace warpwright::model {
namespace {

using nlohmann::json;
using namespace fields;

constexpr std::pair<std::string_view, Direction> kDirections[] = {
    {"in", Direction::In}, {"out", Direction::Out}, {"inout", Direction::InOut}};
constexpr std::pair<std::string_view, ModuleMode> kModuleModes[] = {
    {"made", ModuleMode::AsMade}, {"eval", ModuleMode::Eval}, {"train", ModuleMode::Train}};
constexpr std::pair<std::string_view, Distribution::Kind> kDistributions[] = {
    {"normal", Distribution::Kind::Normal},     {"uniform", Distribution::Kind::Uniform},
    {"positive", Distribution::Kind::Positive}, {"integers", Distribution::Kind::Integers},
    {"zeros", Distribution::Kind::Zeros},       {"quantiles", Distribution::Kind::Quantiles},
    {"sorted", Distribution::Kind::Sorted},     {"permutation", Distribution::Kind::Permutation},
    {"module", Distribution::Kind::Module}};

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

json buffer_json(const Buffer &buffer) {
  using enum Distribution::Kind;
  const Distribution &drawn = buffer.distribution;
  json distribution = {{"kind", name_in(kDistributions, drawn.kind)}};
  if (drawn.kind == Integers || drawn.kind == Quantiles || drawn.kind == Sorted ||
      drawn.kind == Permutation) {
    distribution["lower"] = drawn.lower.text();
    distribution["upper"] = drawn.upper.text();
  }
  if (!drawn.quantiles.empty())
    distribution["quantiles"] = drawn.quantiles;
  json document = {{"name", buffer.name},
                   {"dtype", name(buffer.dtype)},
                   {"extent", buffer.extent.text()},
                   {"direction", name_in(kDirections, buffer.direction)},
                   {"distribution", std::move(distribution)}};
  if (!buffer.shape.empty())
    document["shape"] = buffer.shape;
  if (!buffer.torch_name.empty())
    document["torch_name"] = buffer.torch_name;
  for (const Dtype dtype : buffer.lanes)
    document["lanes"].push_back(name(dtype));
  return document;
}

Result<Buffer> buffer_from(const json &document) {
  Buffer buffer;
  buffer.name = document["name"];
  const std::string where = "buffers." + buffer.name;
  buffer.dtype = *dtype_from_name(document["dtype"].get<std::string>());
  buffer.extent = TRY(expression(document, "extent", where));
  buffer.direction = value_in(kDirections, document["direction"]);
  buffer.shape = document.value("shape", std::vector<std::int64_t>{});
  buffer.torch_name = document.value("torch_name", "");
  for (const std::string &dtype : document.value("lanes", std::vector<std::string>{}))
    buffer.lanes.push_back(*dtype_from_name(dtype));
  if (std::ranges::any_of(buffer.lanes, [&](Dtype dtype) { return size_bytes(dtype) != size_bytes(buffer.dtype); }))
    return fail(where + ".lanes: they have not the width of " + std::string(name(buffer.dtype)),
                "Give dtypes of one width");
  if (!document.contains("distribution"))
    return buffer;
  const json &distribution = document["distribution"];
  buffer.distribution.kind = value_in(kDistributions, distribution["kind"]);
  auto lower = expression(distribution, "lower", where + ".distribution");
  auto upper =
      expression(distribution, "upper", where + ".distribution", symbolic::Expression(256));
  if (!lower || !upper)
    return std::unexpected(lower ? upper.error() : lower.error());
  buffer.distribution.lower = *lower;
  buffer.distribution.upper = *upper;
  auto &quantiles = buffer.distribution.quantiles;
  quantiles = distribution.value("quantiles", std::vector<double>{});
  const bool has_quantiles = buffer.distribution.kind == Distribution::Kind::Quantiles ||
                             buffer.distribution.kind == Distribution::Kind::Sorted;
  if (quantiles.size() != (has_quantiles ? Distribution::kQuantiles : 0) ||
      !std::ranges::is_sorted(quantiles))
    return fail(where + ".distribution.quantiles: quantiles and sorted need " +
                    std::to_string(Distribution::kQuantiles) +
                    " numbers in ascending order, and other kinds none",
                "Found " + distribution.dump());
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
  scalar.value = TRY(expression(document, "value", where));
  return scalar;
}

Result<void> decode_buffers_and_scalars(const json &document, Task &task) {
  for (const json &entry : document["buffers"])
    task.buffers.push_back(TRY(buffer_from(entry)));
  for (const json &entry : document.value("scalars", json::array()))
    task.scalars.push_back(TRY(scalar_from(entry)));
  if (!document.contains("work"))
    return {};
  for (auto [key, member] :
       {std::pair{"bytes", &task.work.bytes}, std::pair{"flops", &task.work.flops}}) {
    if (!document["work"].contains(key))
      continue;
    auto value = TRY(expression(document["work"], key, "work"));
    *member = value;
  }
  return {};
}

TorchModule module_from(const json &document) {
  TorchModule module;
  module.source = document["source"];
  for (auto [key, member] :
       {std::pair{"language", &TorchModule::language}, std::pair{"model", &TorchModule::model},
        std::pair{"inputs", &TorchModule::inputs},
        std::pair{"init_inputs", &TorchModule::init_inputs}, std::pair{"path", &TorchModule::path}})
    module.*member = document.value(key, module.*member);
  module.files = document.value("files", module.files);
  if (document.contains("training")) // records before 2026-11-23
    module.mode = document["training"] ? ModuleMode::Train : ModuleMode::Eval;
  if (document.contains("mode"))
    module.mode = *module_mode_from_name(document["mode"].get<std::string>());
  return module;
}

/// Checks that the files' paths stay in the folder that a worker creates for them.
Result<void> check_files(const TorchModule &module) {
  const auto stays_inside = [](const std::string &path) {
    return !path.empty() && !path.starts_with("/") && !path.ends_with("/") &&
           !path.contains("//") && !path.contains('\0') && !("/" + path + "/").contains("/../") &&
           !("/" + path + "/").contains("/./");
  };
  for (const auto &[path, text] : module.files)
    if (!stays_inside(path) || path == module.path)
      return fail("the torch module's file '" + path + "' has no unique path below one folder");
  if (!module.files.empty() && !stays_inside(module.path))
    return fail("the torch module has other files, and no unique path among them");
  return {};
}

std::string dump(const json &document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace

std::string_view name(ModuleMode mode) {
  for (const auto &[text, known] : kModuleModes)
    if (known == mode)
      return text;
  return "";
}

std::optional<ModuleMode> module_mode_from_name(std::string_view name) {
  for (const auto &[known, mode] : kModuleModes)
    if (known == name)
      return mode;
  return std::nullopt;
}

json to_json(const TorchModule &module) {
  json document = {{"language", module.language},
                   {"source", module.source},
                   {"model", module.model},
                   {"inputs", module.inputs},
                   {"init_inputs", module.init_inputs},
                   {"mode", name(module.mode)}};
  if (!module.files.empty() || !module.path.empty()) {
    document["files"] = module.files;
    document["path"] = module.path;
  }
  return document;
}

Result<TorchModule> torch_module_from_json(const json &document) {
  if (!document.is_object() || !document.contains("source"))
    return fail("a torch module is an object with the text of its file as `source`");
  for (const auto &[key, value] : document.items()) {
    json known = to_json(TorchModule{.files = {{"a.py", ""}}, .path = "b.py"});
    known["training"] = true; // in older documents
    if (!known.contains(key) || known[key].type() != value.type())
      return fail("the torch module's member " + key + " is not known, or of another type");
    if (key == "mode" && !module_mode_from_name(value.get<std::string>()))
      return fail("the torch module's mode is made, eval or train, not " + value.get<std::string>());
    if (key == "files" && !std::ranges::all_of(value, &json::is_string))
      return fail("the torch module's files are not all texts");
  }
  TorchModule module = module_from(document);
  TRY(check_files(module));
  return module;
}

json to_json(const Task &task) {
  json buffers = json::array(), scalars = json::array(), work = json::object();
  for (const Buffer &buffer : task.buffers)
    buffers.push_back(buffer_json(buffer));
  for (const Scalar &scalar : task.scalars) {
    const auto *integer = std::get_if<symbolic::Expression>(&scalar.value);
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
  if (task.module)
    document["module"] = to_json(*task.module);
  return document;
}

Result<Task> task_from_json(const json &document) {
  TRY(validate(document, Schema::Task));
  Task task;
  task.name = document["name"];
  task.file = document.value("file", "");
  task.sizes = document["sizes"].get<symbolic::Sizes>();
  task.check_sizes = document.value("check_sizes", std::vector<symbolic::Sizes>{});
  TRY(decode_buffers_and_scalars(document, task));
  if (document.contains("module")) {
    task.module = module_from(document["module"]);
    TRY(check_files(*task.module));
  }
  const json tolerance = document.value("tolerance", json::object());
  task.tolerance = default_tolerance(task.buffers);
  task.tolerance.absolute = tolerance.value("absolute", task.tolerance.absolute);
  task.tolerance.relative = tolerance.value("relative", task.tolerance.relative);
  task.tolerance.error_factor = tolerance.value("error_factor", task.tolerance.error_factor);
  task.reference = TRY(plan_from_valid_json(document["reference"], "reference."));
  if (document.contains("reference_fp64"))
    task.reference_fp64 = TRY(plan_from_valid_json(document["reference_fp64"], "reference_fp64."));
  TRY(check_task(task));
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
