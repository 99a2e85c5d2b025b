// Reports about optimized classes: found by class and file, the newest of all environments.
#include "regions/report.h"

#include <doctest/doctest.h>

#include <fstream>

using nlohmann::json;
using warpwright::regions::read_report;
using warpwright::regions::report_key;
using warpwright::regions::Store;
namespace fs = std::filesystem;

namespace {

struct ReportFolder {
  fs::path path = fs::temp_directory_path() / ("warpwright-report-" + std::to_string(getpid()));
  fs::path root = path / "store", file = fs::weakly_canonical(path) / "model.py";
  ReportFolder() {
    fs::remove_all(path);
    fs::create_directories(path);
    std::ofstream(file) << "class Twice: ...\n";
  }
  ~ReportFolder() { fs::remove_all(path); }
  std::string key() const { return report_key("Twice", file); }
};

json record(const std::string &date) {
  return {{"class", "Twice"},
          {"file_hash", "0"},
          {"mode", "default"},
          {"device", "NVIDIA H200"},
          {"date", date},
          {"graphs", 2},
          {"breaks", 1},
          {"operators", 12},
          {"covered", 10},
          {"plans", 3},
          {"gains", {{{"ratio", 1.2}, {"low", 1.1}, {"high", 1.3}}}}};
}

} // namespace

TEST_CASE("A report is found by its class and its file, through links too") {
  const ReportFolder folder;
  CHECK(!read_report(folder.root, "Twice", folder.file));
  REQUIRE(Store(folder.root, {{"device", "a"}})
              .write(Store::Kind::Report, folder.key(), record("2026-01-02")));
  const auto report = read_report(folder.root, "Twice", folder.file);
  REQUIRE(report);
  CHECK(report->covered == 10);
  REQUIRE(report->gains.size() == 1);
  CHECK(report->gains[0].low == 1.1);
  CHECK(!read_report(folder.root, "Thrice", folder.file));
  CHECK(!read_report(folder.root, "Twice", folder.path / "other.py"));
  fs::create_symlink(folder.file, folder.path / "link.py");
  CHECK(read_report(folder.root, "Twice", folder.path / "link.py"));
}

TEST_CASE("The newest report of all environments is read") {
  const ReportFolder folder;
  for (const char *device : {"a", "b", "c"})
    REQUIRE(Store(folder.root, {{"device", device}})
                .write(Store::Kind::Report, folder.key(),
                       record(device == std::string("b") ? "2026-03-01" : "2026-01-02")));
  CHECK(read_report(folder.root, "Twice", folder.file)->date == "2026-03-01");
}

TEST_CASE("A report that is damaged, absurd or too large is none") {
  const ReportFolder folder;
  const Store store(folder.root, {{"device", "a"}});
  const fs::path file = store.folder() / "reports" / (folder.key() + ".json");
  const auto is_read = [&](const json &document) {
    REQUIRE(store.write(Store::Kind::Report, folder.key(), document));
    return read_report(folder.root, "Twice", folder.file).has_value();
  };
  CHECK(is_read(record("2026")));
  for (const auto &[name, value] : json{
           {"graphs", "two"},
           {"breaks", -1},
           {"covered", 13},
           {"gains", {{{"ratio", 2}}}},
           {"mode", 5},
           {"date", nullptr}}.items()) {
    json wrong = record("2026");
    wrong[name] = value;
    CHECK_FALSE_MESSAGE(is_read(wrong), name);
  }
  json inverted = record("2026");
  inverted["gains"][0]["low"] = 2;
  CHECK(!is_read(inverted));
  json large = record("2026");
  large["more"] = std::string(70'000, 'x');
  CHECK(!is_read(large));
  std::ofstream(file) << "{\"format\": 1, ";
  CHECK(!read_report(folder.root, "Twice", folder.file));
  fs::remove(file);
  fs::create_directory(file);
  CHECK(!read_report(folder.root, "Twice", folder.file));
}
