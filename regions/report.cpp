#include "regions/report.h"

#include "support/hash.h"

#include <algorithm>

namespace warpwright::regions {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kMostEnvironments = 64;

bool is_sane(const ModelReport &report) {
  const auto is_ordered = [](const GraphGain &one) {
    return 0 < one.low && one.low <= one.ratio && one.ratio <= one.high;
  };
  return std::ranges::min(
             {report.graphs, report.breaks, report.operators, report.covered, report.plans}) >= 0 &&
         report.covered <= report.operators && std::ranges::all_of(report.gains, is_ordered);
}

std::optional<ModelReport> report_of(const json &record) {
  try {
    ModelReport report{record.at("class"),
                       record.at("file_hash"),
                       record.at("mode"),
                       record.at("device"),
                       record.at("date"),
                       record.at("graphs"),
                       record.at("breaks"),
                       record.at("operators"),
                       record.at("covered"),
                       record.at("plans"),
                       {}};
    for (const json &one : record.at("gains"))
      report.gains.push_back({one.at("ratio"), one.at("low"), one.at("high")});
    return is_sane(report) ? std::optional(report) : std::nullopt;
  } catch (const json::exception &) {
    return std::nullopt;
  }
}

} // namespace

std::string report_key(const std::string &class_name, const std::string &file) {
  return sha256_hex(class_name + "\n" + file);
}

std::optional<ModelReport> read_report(const fs::path &root, const std::string &class_name,
                                       const fs::path &file) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(file, error);
  const std::string key = report_key(class_name, error ? file.string() : resolved.string());
  std::optional<ModelReport> newest;
  fs::directory_iterator folder(root, error);
  for (int i = 0; !error && folder != fs::directory_iterator() && i < kMostEnvironments;
       ++i, folder.increment(error)) {
    const auto record = Store::at(folder->path()).read(Store::Kind::Report, key);
    auto report = record ? report_of(*record) : std::nullopt;
    if (report && (!newest || newest->date < report->date))
      newest = std::move(report);
  }
  return newest;
}

} // namespace warpwright::regions
