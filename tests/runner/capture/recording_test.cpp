// The recording alone: identities of operations, its limits, files and damaged files.
#include "runner/capture/folder_writer.h"
#include "runner/capture/value_statistics.h"
#include "tests/runner/capture/capture_fixture.h"

#include <algorithm>
#include <fstream>
#include <limits>

using namespace warpwright;
using namespace warpwright::capture;

namespace {

Pointer pointer(std::uint64_t allocation, std::uint64_t offset) {
  return {
      .at = 0, .allocation = allocation, .offset = offset, .extent_bytes = 64, .memory = "device"};
}

/// A launch with two pointers and a number.
Launch launch(const Pointer &first, const Pointer &second, char number = 0) {
  return {.kernel = "k",
          .grid = {1, 1, 1},
          .block = {32, 1, 1},
          .parameters = std::vector<Parameter>{{std::string(8, '\0'), {first}},
                                               {std::string(8, '\0'), {second}},
                                               {std::string(4, number), {}}}};
}

std::string why_skipped(Recording &recording) {
  std::string text;
  for (const Skipped &skipped : recording.skipped())
    text += skipped.what + " (" + std::to_string(skipped.count) + "): " + skipped.why + "\n";
  return text;
}

} // namespace

TEST_CASE("launches that differ in swapped buffers only are the same operation") {
  Recording recording;
  const auto first = recording.find(launch(pointer(70, 0), pointer(80, 0)));
  CHECK(recording.find(launch(pointer(80, 0), pointer(70, 0))) == first);
  CHECK(recording.find(launch(pointer(70, 0), pointer(70, 0))) != first); // one buffer
  CHECK(recording.find(launch(pointer(70, 8), pointer(80, 0))) != first);
  CHECK(recording.find(launch(pointer(70, 0), pointer(80, 0), 1)) != first);
  const auto all = recording.snapshot();
  REQUIRE(all.size() == 4);
  const auto &parameters = *std::get<Launch>(*all[0].operation).parameters;
  CHECK(parameters[0].pointers[0].allocation == 0); // numbers of our own
  CHECK(parameters[1].pointers[0].allocation == 1);
}

TEST_CASE("a kernel with ever new values ends as one operation without parameters") {
  Recording recording({.variants = 3});
  for (char i = 0; i < 10; ++i) {
    const auto id = recording.find(launch(pointer(1, 0), pointer(2, 0), i));
    REQUIRE(id);
    recording.begun(*id, i);
    recording.ended(*id, i, Outcome::Ran);
  }
  const auto all = recording.snapshot();
  REQUIRE(all.size() == 4);
  CHECK_FALSE(std::get<Launch>(*all[2].operation).varied);
  const auto &last = std::get<Launch>(*all[3].operation);
  CHECK(last.varied);
  CHECK_FALSE(last.parameters);
  CHECK(all[3].statistics.count == 7);
  CHECK(recording.totals().launches == 10);
}

TEST_CASE("too many operations and too long an order are counted as skipped") {
  Recording recording({.operations = 2, .order_lines = 3});
  std::vector<Id> ids;
  for (char i = 0; i < 3; ++i)
    if (const auto id = recording.find(launch(pointer(1, 0), pointer(2, 0), i)))
      ids.push_back(*id);
  REQUIRE(ids.size() == 2);
  for (int i = 0; i < 6; ++i)
    recording.ended(ids[i % 2], 0, Outcome::Ran);
  CHECK(recording.take_order() == "[0,1]\n[1,1]\n[0,1]\n");
  CHECK(recording.take_order() == "");
  CHECK(why_skipped(recording) ==
        "launches (1): there are more distinct operations than a capture keeps\n"
        "places in the order (3): the order has more lines than a capture keeps\n");
}

TEST_CASE("the median is that of the runs, and incomplete records have no time") {
  Recording recording;
  const Id id = *recording.find(launch(pointer(1, 0), pointer(2, 0)));
  std::uint32_t correlation = 0;
  for (const double ns : {9.0, 1.0, 5.0, 0.0}) {
    recording.begun(id, ++correlation);
    CHECK(recording.timed({.correlation = correlation, .graph_node = 0, .ns = ns}));
    CHECK_FALSE(recording.timed({.correlation = correlation, .graph_node = 0, .ns = ns}));
  }
  const Statistics runs = recording.snapshot().at(0).statistics;
  CHECK(runs.timed == 3);
  CHECK(runs.total_ns == 15);
  CHECK(runs.min_ns == 1);
  CHECK(runs.median_ns == 5);
  CHECK(why_skipped(recording) == "times (1): the GPU records were incomplete\n");
}

TEST_CASE("a kernel that no call explains is recorded from the GPU's record") {
  Recording recording;
  const Launch known{.kernel = "k", .grid = {2, 1, 1}, .block = {32, 1, 1}};
  for (int i = 0; i < 2; ++i)
    recording.timed_unexplained({.correlation = 5, .graph_node = 0, .ns = 10}, known);
  recording.timed_unexplained({.correlation = 5, .graph_node = 77, .ns = 10}, known);
  const auto all = recording.snapshot();
  REQUIRE(all.size() == 1);
  CHECK_FALSE(std::get<Launch>(*all[0].operation).parameters);
  CHECK(all[0].statistics.count == 2);
  CHECK(all[0].statistics.in_graphs == 1);
  CHECK(all[0].statistics.total_ns == 30);
}

TEST_CASE("a last line that was cut short is left out, and another damage is named") {
  const CaptureFolder folder;
  auto writer = FolderWriter::make(folder.path);
  REQUIRE(writer);
  Recording recording;
  ModuleStore modules;
  recording.find(launch(pointer(1, 0), pointer(2, 0)));
  REQUIRE(writer->write(recording, modules, {.pid = 1, .command = {"p\xff"}}));
  const auto path = process_folders(folder.path).at(0);
  std::ofstream(path / kLaunchesFile, std::ios::app) << "{\"id\":1,\"ker";
  CHECK(CaptureFolder::read(path).launches.size() == 1);
  std::ofstream(path / kLaunchesFile, std::ios::app) << "\n";
  const auto damaged = read_process(path);
  REQUIRE_FALSE(damaged);
  CHECK(describe(damaged.error()).find("launches.jsonl, line 2") != std::string::npos);
}

TEST_CASE("a process that has executed another program makes a second folder") {
  const CaptureFolder folder;
  Recording recording;
  ModuleStore modules;
  for (int i = 0; i < 2; ++i) {
    auto writer = FolderWriter::make(folder.path);
    REQUIRE(writer);
    REQUIRE(writer->write(recording, modules, {.pid = 1}));
  }
  CHECK(process_folders(folder.path).size() == 2);
}

TEST_CASE("modules over the limits are refused, and a known one never is") {
  ModuleStore modules({.one_bytes = 4, .all_bytes = 6});
  CHECK_FALSE(modules.take("five!"));
  CHECK(modules.take("four"));
  CHECK_FALSE(modules.take("abc"));
  CHECK(modules.take("ab"));
  CHECK(modules.take("four"));
}

TEST_CASE("statistics of elements: quantiles, order, and numbers that are none") {
  const auto of = [](const auto &values) {
    return statistics_of({reinterpret_cast<const char *>(values.data()), values.size() * sizeof values[0]});
  };
  std::vector<std::int32_t> many(1 << 20);
  for (std::size_t i = 0; i < many.size(); ++i)
    many[i] = static_cast<std::int32_t>((i * 2654435761u) % many.size()) - 7;
  const auto permutation = of(many);
  CHECK(permutation.at("int32").order == "permutation");
  CHECK(permutation.at("int32").quantiles.size() == 33);
  CHECK(permutation.at("int32").quantiles.front() == -7);
  CHECK(permutation.at("int32").quantiles.back() == (1 << 20) - 8);
  CHECK(permutation.at("int32").quantiles[8] == doctest::Approx(1 << 18).epsilon(0.05));
  many[3] = many[4];
  CHECK(of(many).at("int32").order.empty());
  std::ranges::sort(many);
  CHECK(of(many).at("int32").order == "sorted");

  std::vector<float> floats{4, -1, 2.5F, 1e38F};
  CHECK(of(floats).at("float32").quantiles.front() == -1);
  CHECK(of(floats).at("float32").quantiles.back() == 1e30); // differences of two stay finite
  CHECK(of(floats).at("int32").order.empty());
  CHECK(of(floats).at("float32").order.empty());
  std::vector<double> keys;
  for (int i = 0; i < 100'000; ++i)
    keys.push_back(i / 8 - 1000.5);
  CHECK(of(keys).at("float64").order == "sorted");
  std::swap(keys.front(), keys.back());
  CHECK(of(keys).at("float64").order.empty());
  floats[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(of(floats).contains("float32"));
  CHECK(of(std::vector<std::uint16_t>{0x3c00, 0xc000}).at("float16").quantiles.back() == 1);
  CHECK(of(std::vector<std::uint8_t>{1, 0, 1}).contains("bool"));
  CHECK_FALSE(of(std::vector<std::uint8_t>{1, 0, 2}).contains("bool"));
}
