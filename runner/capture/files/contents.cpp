// Lines of wanted.jsonl and contents.jsonl.
#include "runner/capture/files/contents.h"

#include "runner/capture/files/json_lines.h"

namespace warpwright::capture {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const WantedLaunch &launch) {
  return {{"kernel", launch.kernel}, {"grid", launch.grid}, {"block", launch.block}, {"run", launch.run}};
}

WantedLaunch wanted_of(const nlohmann::json &json) {
  return {.kernel = json.at("kernel"), .grid = json.at("grid"), .block = json.at("block"), .run = json.at("run")};
}

SeenBuffer seen_of(const nlohmann::json &json) {
  SeenBuffer seen{.launch = wanted_of(json),
                  .parameter = json.at("parameter"),
                  .at = json.at("at"),
                  .size_bytes = json.at("size_bytes"),
                  .seen_bytes = json.at("seen_bytes"),
                  .types = {}};
  for (const auto &[type, statistics] : json.at("types").items())
    seen.types[type] = {.order = statistics.value("order", ""), .quantiles = statistics.at("quantiles")};
  return seen;
}

} // namespace

std::string to_line(const WantedLaunch &launch) { return line_of(to_json(launch)); }

std::string to_line(const SeenBuffer &buffer) {
  Json json = to_json(buffer.launch);
  json.update({{"parameter", buffer.parameter},
               {"at", buffer.at},
               {"size_bytes", buffer.size_bytes},
               {"seen_bytes", buffer.seen_bytes},
               {"types", Json::object()}});
  for (const auto &[type, statistics] : buffer.types) {
    Json &one = json["types"][type];
    if (!statistics.order.empty())
      one["order"] = statistics.order;
    one["quantiles"] = statistics.quantiles;
  }
  return line_of(json);
}

Result<std::vector<WantedLaunch>> read_wanted(const std::filesystem::path &file) {
  std::vector<WantedLaunch> wanted;
  TRY(read_lines(file, [&](const nlohmann::json &json) { wanted.push_back(wanted_of(json)); }));
  return wanted;
}

Result<std::vector<SeenBuffer>> read_contents(const std::filesystem::path &capture) {
  std::vector<SeenBuffer> seen;
  for (const std::filesystem::path &process : process_folders(capture / kContentsFolder))
    TRY(read_lines(process / kContentsFile, [&](const nlohmann::json &json) { seen.push_back(seen_of(json)); }));
  return seen;
}

} // namespace warpwright::capture
