#include "server/kernelbench/bench_result.h"

#include "support/model/json.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace warpwright::server {
namespace {

using nlohmann::json;
using State = BenchResult::State;

constexpr std::pair<State, std::string_view> kStates[] = {{State::Verified, "verified"},
                                                          {State::Unmeasured, "unmeasured"},
                                                          {State::NoCandidate, "no_candidate"},
                                                          {State::ExportFailed, "export_failed"},
                                                          {State::Skipped, "skipped"},
                                                          {State::Degenerate, "degenerate"},
                                                          {State::Failed, "failed"}};

json ratio_json(const Ratio &ratio) {
  return {{"ratio", ratio.value},
          {"low", ratio.low},
          {"high", ratio.high},
          {"baseline_ns", ratio.baseline_ns},
          {"candidate_ns", ratio.candidate_ns}};
}

Ratio ratio_from(const json &document) {
  return {document.at("ratio"), document.at("low"), document.at("high"), document.at("baseline_ns"),
          document.at("candidate_ns")};
}

json variants_json(const std::vector<TriedVariant> &variants) {
  json list = json::array();
  for (const TriedVariant &variant : variants) {
    json one = {{"moves", variant.moves}, {"outcome", variant.outcome}};
    if (!variant.message.empty())
      one["message"] = variant.message;
    if (variant.candidate_ns)
      one["candidate_ns"] = *variant.candidate_ns;
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<TriedVariant> variants_from(const json &list) {
  std::vector<TriedVariant> variants;
  for (const json &one : list) {
    TriedVariant variant{one.at("moves"), one.at("outcome"), one.value("message", ""), {}};
    if (one.contains("candidate_ns"))
      variant.candidate_ns = one["candidate_ns"].get<double>();
    variants.push_back(std::move(variant));
  }
  return variants;
}

/// Contents of a results file: header and results; both are empty for a file without lines.
struct Kept {
  json header;
  std::vector<BenchResult> results;
};

void keep(BenchResult result, std::vector<BenchResult> &results) {
  const auto known = std::ranges::find_if(results, [&](const BenchResult &other) {
    return other.id == result.id && other.source_hash == result.source_hash;
  });
  if (known == results.end())
    results.push_back(std::move(result));
  else if (result.state != State::Failed)
    *known = std::move(result);
}

/// @param text whole lines; a last line without a newline was cut by a kill and is ignored
Result<Kept> kept_in(const std::string &text, const std::filesystem::path &path) {
  Kept kept;
  int number = 0;
  for (std::size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos;
       start = end + 1) {
    const auto where = path.string() + ", line " + std::to_string(++number) + ": ";
    json line = json::parse(text.substr(start, end - start), nullptr, false);
    if (line.is_discarded())
      return fail(where + "no JSON", "Give a file that --results wrote");
    if (number == 1) {
      kept.header = std::move(line);
      continue;
    }
    auto result = bench_result_from_json(line);
    if (!result)
      return fail(where + result.error().message, "Give a file that --results wrote");
    keep(std::move(*result), kept.results);
  }
  return kept;
}

} // namespace

std::string_view name(State state) {
  for (const auto &[one, text] : kStates)
    if (one == state)
      return text;
  return "";
}

json to_json(const BenchResult &result) {
  json ratios = json::object();
  for (const auto &[baseline, ratio] : result.ratios)
    ratios[baseline] = ratio_json(ratio);
  json document = {{"id", result.id},
                   {"name", result.name},
                   {"level", result.level},
                   {"source_hash", result.source_hash},
                   {"state", name(result.state)},
                   {"reason", result.reason},
                   {"ratios", std::move(ratios)},
                   {"missing", result.missing},
                   {"moves", result.moves},
                   {"plan_hash", result.plan_hash},
                   {"outcomes", result.outcomes},
                   {"seconds", result.seconds},
                   {"date", result.date}};
  if (!result.device.kind.empty())
    document["device"] = model::to_json(result.device);
  if (result.recipe)
    document["recipe"] = search::to_json(*result.recipe);
  if (!result.variants.empty())
    document["variants"] = variants_json(result.variants);
  if (result.host_code)
    document["host_code"] = true;
  if (result.constructor_only)
    document["constructor_only"] = true;
  if (result.kernels_ran) {
    document["kernels_ran"] = *result.kernels_ran;
    document["kernels"] = result.kernels;
  }
  if (!result.wrong.empty())
    document["wrong_baselines"] = result.wrong;
  if (result.library_share)
    document["library_share"] = *result.library_share;
  return document;
}

Result<BenchResult> bench_result_from_json(const json &document) try {
  BenchResult result;
  result.id = document.at("id");
  result.name = document.at("name");
  result.level = document.at("level");
  result.source_hash = document.at("source_hash");
  const std::string state = document.at("state");
  for (const auto &[one, text] : kStates)
    if (text == state)
      result.state = one;
  result.reason = document.at("reason");
  for (const auto &[baseline, ratio] : document.at("ratios").items())
    result.ratios[baseline] = ratio_from(ratio);
  result.missing = document.at("missing").get<std::map<std::string, std::string>>();
  result.moves = document.at("moves").get<std::vector<std::string>>();
  result.plan_hash = document.at("plan_hash");
  result.outcomes = document.at("outcomes").get<std::map<std::string, int>>();
  result.variants = variants_from(document.value("variants", json::array()));
  result.seconds = document.at("seconds");
  result.date = document.at("date");
  if (document.contains("device"))
    if (auto device = model::device_from_json(document["device"]))
      result.device = *device;
  if (document.contains("recipe")) {
    auto recipe = search::recipe_from_json(document["recipe"]);
    if (!recipe)
      return std::unexpected(recipe.error());
    result.recipe = std::move(*recipe);
  }
  result.host_code = document.value("host_code", false);
  if (document.contains("kernels_ran"))
    result.kernels_ran = document["kernels_ran"].get<bool>();
  result.kernels = document.value("kernels", "");
  result.wrong = document.value("wrong_baselines", std::set<std::string>());
  result.constructor_only = document.value("constructor_only", false);
  if (document.contains("library_share"))
    result.library_share = document["library_share"].get<double>();
  return result;
} catch (const json::exception &error) {
  return fail(std::string("no result of a benchmark: ") + error.what());
}

Result<std::map<std::string, search::Recipe>> read_recipes(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  auto kept = kept_in(text.str(), path);
  if (!kept)
    return std::unexpected(kept.error());
  if (kept->header.is_null())
    return fail(path.string() + " holds no results of a run", "Give a file that --results wrote");
  std::map<std::string, search::Recipe> recipes;
  for (BenchResult &result : kept->results)
    if (result.recipe && result.state == State::Verified)
      recipes[result.source_hash] = std::move(*result.recipe);
  return recipes;
}

Result<ResultsFile> ResultsFile::open(const std::filesystem::path &path, const json &header) {
  std::vector<BenchResult> earlier;
  auto file = LineFile::open(path, [&](const std::string &lines) -> Result<std::string> {
    auto kept = kept_in(lines, path);
    if (!kept)
      return std::unexpected(kept.error());
    if (!kept->header.is_null() && kept->header != header)
      return fail(path.string() +
                      " holds results of another run (other tasks, settings or version)",
                  "Give another file, or remove this one to begin again");
    earlier = std::move(kept->results);
    return kept->header.is_null() ? header.dump() + "\n" : "";
  });
  if (!file)
    return std::unexpected(file.error());
  return ResultsFile(std::move(*file), std::move(earlier));
}

Result<void> ResultsFile::append(const BenchResult &result) {
  return file_.append(to_json(result).dump(-1, ' ', false, json::error_handler_t::replace));
}

} // namespace warpwright::server
