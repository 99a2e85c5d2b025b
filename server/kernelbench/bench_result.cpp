#include "server/kernelbench/bench_result.h"

#include "support/model/json.h"

#include <sstream>

namespace warpwright::server {
namespace {

using nlohmann::json;
using State = BenchResult::State;

constexpr std::pair<State, std::string_view> kStates[] = {
    {State::Verified, "verified"},        {State::Unmeasured, "unmeasured"},
    {State::NoCandidate, "no_candidate"}, {State::Skipped, "skipped"},
    {State::Degenerate, "degenerate"},    {State::Failed, "failed"}};

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

/// The lines that a run has written whole; the last one may have been cut by a kill.
std::vector<json> whole_lines(const std::string &text, std::size_t &whole_bytes) {
  std::vector<json> lines;
  whole_bytes = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string::npos)
      break;
    json line = json::parse(text.substr(start, end - start), nullptr, false);
    if (line.is_discarded())
      break;
    lines.push_back(std::move(line));
    start = whole_bytes = end + 1;
  }
  return lines;
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
    document["recipe"] = generator::to_json(*result.recipe);
  if (!result.variants.empty())
    document["variants"] = variants_json(result.variants);
  if (result.host_code)
    document["host_code"] = true;
  if (result.constructor_only)
    document["constructor_only"] = true;
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
    auto recipe = generator::recipe_from_json(document["recipe"]);
    if (!recipe)
      return std::unexpected(recipe.error());
    result.recipe = std::move(*recipe);
  }
  result.host_code = document.value("host_code", false);
  result.constructor_only = document.value("constructor_only", false);
  if (document.contains("library_share"))
    result.library_share = document["library_share"].get<double>();
  return result;
} catch (const json::exception &error) {
  return fail(std::string("no result of a benchmark: ") + error.what());
}

Result<std::map<std::string, generator::Recipe>> read_recipes(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  std::size_t whole_bytes = 0;
  const std::vector<json> lines = whole_lines(text.str(), whole_bytes);
  if (lines.empty())
    return fail(path.string() + " holds no results of a run", "Give a file that --results wrote");
  std::map<std::string, generator::Recipe> recipes;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    auto result = bench_result_from_json(lines[i]);
    if (!result)
      return fail(path.string() + ", line " + std::to_string(i + 1) + ": " + result.error().message,
                  "Give a file that --results wrote");
    if (result->recipe && result->state == State::Verified)
      recipes[result->source_hash] = std::move(*result->recipe);
  }
  return recipes;
}

Result<ResultsFile> ResultsFile::open(const std::filesystem::path &path, const json &header) {
  ResultsFile results;
  results.path_ = path;
  std::size_t whole_bytes = 0;
  std::vector<json> lines;
  if (std::ifstream file(path); file) {
    std::ostringstream text;
    text << file.rdbuf();
    lines = whole_lines(text.str(), whole_bytes);
  }
  if (!lines.empty() && lines.front() != header)
    return fail(path.string() + " holds results of another run (other tasks, settings or version)",
                "Give another file, or remove this one to begin again");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    auto result = bench_result_from_json(lines[i]);
    if (!result)
      return fail(path.string() + ", line " + std::to_string(i + 1) + ": " + result.error().message,
                  "Give another file, or remove this one to begin again");
    results.earlier_.push_back(std::move(*result));
  }
  std::error_code error;
  if (std::filesystem::exists(path))
    std::filesystem::resize_file(path, whole_bytes, error);
  results.file_.open(path, std::ios::app);
  if (error || !results.file_)
    return fail("cannot write " + path.string(), "Check the folder and its permissions");
  if (lines.empty())
    results.file_ << header.dump() << std::endl;
  return results;
}

Result<void> ResultsFile::append(const BenchResult &result) {
  file_ << to_json(result).dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  if (!file_)
    return fail("cannot write " + path_.string(),
                "Is the disk full? What was written before is kept");
  return {};
}

} // namespace warpwright::server
