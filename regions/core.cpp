// C functions of libwarpwright-core.so for the Python package. They take and return JSON, and never throw.
//
// They return {"error": TEXT} or the documented object. The caller frees each text with ww_free(). Thread: any.
#include "regions/partition.h"
#include "regions/program.h"
#include "regions/report.h"
#include "regions/shape_range.h"
#include "regions/store.h"
#include "runner/measure/median_interval.h"
#include "support/hash.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace warpwright::regions {
namespace {

using nlohmann::json;

/// A whole graph counts as faster when the lower end of the ratio's confidence interval exceeds this.
constexpr double kFaster = 1.01;

json failure(const Error &error) { return {{"error", describe(error)}}; }

char *text_of(const json &answer) {
  const std::string text = answer.dump();
  auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (copy)
    std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

template <class Answer>
char *answered(const char *request, Answer answer) {
  try {
    return text_of(answer(json::parse(request)));
  } catch (const std::exception &error) {
    return text_of({{"error", error.what()}});
  }
}

Store store_of(const json &request) {
  return {request.at("store").get<std::string>(), request.at("environment")};
}

json border_json(const Border &border) {
  return {{"name", border.name}, {"order", border.order}, {"copied", border.is_copied}};
}

json borders(const std::vector<Border> &all) {
  json list = json::array();
  for (const Border &border : all)
    list.push_back(border_json(border));
  return list;
}

/// A graph's description without what differs from example to example.
json without_hints(const json &part) {
  json result = part;
  if (result.is_object()) {
    result.erase("hint");
    result.erase("symbols");
  }
  if (result.is_structured())
    for (auto &[key, one] : result.items())
      one = without_hints(one);
  return result;
}

/// {"n0": {"hint", "low", "high"}} of a region's symbols.
json sizes_of(const Graph &graph, const Program &program) {
  json sizes = json::object();
  for (std::size_t i = 0; i < program.symbols.size(); ++i) {
    const Symbol &symbol = graph.symbols.at(program.symbols[i]);
    sizes["n" + std::to_string(i)] = {{"hint", symbol.hint}, {"low", symbol.low}, {"high", symbol.high ? json(*symbol.high) : json()}};
  }
  return sizes;
}

/// {"low": [N], "high": [N]} of a record's plan; null: it serves one shape.
json limits_of(const std::optional<json> &record) {
  if (!record || !record->contains("range"))
    return json();
  return {{"low", record->at("range").at("low")}, {"high", record->at("range").at("high")}};
}

json without(const Graph &graph) {
  std::map<std::string, int> reasons;
  const std::vector<std::string> found = reasons_against(graph);
  for (std::size_t i = 0; i < found.size(); ++i)
    if (const std::string &op = graph.nodes[i].op; !op.empty() && !found[i].empty())
      ++reasons[op + ": " + found[i]];
  return reasons;
}

/// A graph runs its plans at the sizes that all of them serve. So a plan that serves one size is left out where others
/// serve a range.
void leave_single_sizes(json &regions) {
  const auto serves_range = [](const json &region) {
    const json &limits = region.at("limits");
    return limits.is_object() && limits.at("low") != limits.at("high");
  };
  const bool has_range = std::ranges::any_of(
      regions, [&](const json &region) { return region.at("has_plan") && serves_range(region); });
  for (json &region : regions)
    if (has_range && region.at("limits").is_object() && !serves_range(region))
      region["has_plan"] = false;
}

/// {"key", "regions", "operators", "covered", "outside", "ordered", "binding"} of the request's graph.
json regions_of(const json &request) {
  const auto graph = graph_of(request.at("graph"));
  if (!graph)
    return failure(graph.error());
  const Store store = store_of(request);
  json regions = json::array();
  int operators = 0, covered = 0;
  for (const Node &node : graph->nodes)
    operators += !node.op.empty() && !node.is_view;
  for (const std::vector<std::size_t> &indices : partition(*graph)) {
    const auto program = program_of(*graph, indices);
    if (!program || program->outputs.empty() ||
        !std::ranges::all_of(program->symbols, [&](const std::string &name) { return graph->symbols.contains(name); }))
      continue;
    const std::string key = key_of(program->document);
    const auto record = store.read(Store::Kind::Plan, key);
    covered += program->operators;
    regions.push_back({{"key", key},
                       {"program", program->document},
                       {"inputs", borders(program->inputs)},
                       {"outputs", borders(program->outputs)},
                       {"operators", program->operators},
                       {"symbols", program->symbols},
                       {"sizes", sizes_of(*graph, *program)},
                       {"limits", limits_of(record)},
                       {"has_plan", record.has_value() && !store.read(Store::Kind::Quarantine, key).has_value()}});
  }
  leave_single_sizes(regions);
  const std::string key = sha256_hex(without_hints(request.at("graph")).dump() + request.value("mode", ""));
  const auto binding = store.read(Store::Kind::Binding, key);
  return {{"key", key},         {"regions", std::move(regions)}, {"operators", operators},
          {"covered", covered}, {"outside", without(*graph)},    {"ordered", ordered_nodes(*graph)},
          {"binding", binding ? *binding : json()}};
}

Store::Kind kind_of(const std::string &name) {
  return name == "plan"      ? Store::Kind::Plan
         : name == "job"     ? Store::Kind::Job
         : name == "binding" ? Store::Kind::Binding
         : name == "report"  ? Store::Kind::Report
                             : Store::Kind::Quarantine;
}

json read_record(const json &request) {
  const auto found = store_of(request).read(kind_of(request.at("kind")), request.at("key"));
  return {{"record", found ? *found : json()}};
}

/// A report's key is made of its class and file, so the request has none.
json write_record(const json &request) {
  const Store::Kind kind = kind_of(request.at("kind"));
  const json &record = request.at("record");
  const std::string key = kind == Store::Kind::Report
                              ? report_key(record.at("class"), record.at("file"))
                              : request.at("key").get<std::string>();
  const auto written = store_of(request).write(kind, key, record);
  return written ? json::object() : failure(written.error());
}

/// {"digest"} of all bindings and quarantined plans, and of the keys of plans where they lead to confirmations; when it changes, code in
/// PyTorch's cache is out of date.
json digest(const json &request) {
  const Store store = store_of(request);
  std::string all;
  for (const std::string &key : store.keys(Store::Kind::Binding))
    if (const auto binding = store.read(Store::Kind::Binding, key))
      all += key + binding->at("regions").dump() + binding->value("captured", json()).dump();
  for (const std::string &key : store.keys(Store::Kind::Quarantine))
    all += key;
  if (request.value("plans", false))
    for (const std::string &key : store.keys(Store::Kind::Plan))
      all += "plan " + key;
  return {{"digest", sha256_hex(all)}};
}

/// The plan of a record for given sizes: {"plan", "constants"}, or an error outside of its range.
json instance(const json &request) {
  const auto range = range_from_json(request.at("range"));
  if (!range)
    return failure(range.error());
  const auto found = instance_of(*range, request.at("sizes").get<std::vector<std::int64_t>>());
  return found ? *found : failure(found.error());
}

json folder(const json &request) { return {{"folder", store_of(request).folder().string()}}; }

/// {"ratio", "low", "high", "faster"} from paired times; an error when there are none or their counts differ.
json decide(const json &request) {
  const auto reference = request.at("reference").get<std::vector<double>>();
  const auto candidate = request.at("candidate").get<std::vector<double>>();
  if (reference.empty() || reference.size() != candidate.size())
    return {{"error", "pairs of times are wanted"}};
  const auto ratio = runner::median_ratio_interval(reference, candidate);
  return {{"ratio", ratio.median}, {"low", ratio.low}, {"high", ratio.high}, {"faster", ratio.low > kFaster}};
}

} // namespace
} // namespace warpwright::regions

extern "C" {
using namespace warpwright::regions;

/// {"store", "environment", "mode", "graph"} -> the object of regions_of()
char *ww_regions(const char *request) { return answered(request, regions_of); }
/// {"store", "environment", "kind", "key"} -> {"record"}
char *ww_read(const char *request) { return answered(request, read_record); }
/// {"store", "environment", "kind", "key" (not of a report), "record"} -> {}
char *ww_write(const char *request) { return answered(request, write_record); }
/// {"store", "environment", "plans"} -> {"digest"}
char *ww_digest(const char *request) { return answered(request, digest); }
/// {"store", "environment"} -> {"folder"}
char *ww_folder(const char *request) { return answered(request, folder); }
/// {"reference": [ns], "candidate": [ns]} -> {"ratio", "low", "high", "faster"}
char *ww_decide(const char *request) { return answered(request, decide); }
/// {"range", "sizes": [N]} -> {"plan", "constants"}
char *ww_instance(const char *request) { return answered(request, instance); }
void ww_free(char *text) { std::free(text); }
}
