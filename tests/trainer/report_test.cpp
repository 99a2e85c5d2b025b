// Reports of training runs: logs read back, event files that TensorBoard can read, a page that says what is there and what is not.
#include "tests/trainer/temporary_folder.h"
#include "trainer/report/event_file.h"
#include "trainer/report/line_plot.h"
#include "trainer/report/page.h"
#include "trainer/report/report_command.h"

#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <iterator>
#include <sstream>

using namespace warpwright;
using namespace warpwright::trainer;
using testing::TemporaryFolder;

namespace {

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string &text, const std::string &part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

std::string step_line(int step, double reward) {
  return R"({"event":"step","stage":"rl","variant":"contrastive","time":"2026-01-02T03:04:05Z","step":)" +
         std::to_string(step) + R"(,"reward_mean":)" + std::to_string(reward) +
         R"(,"kl":0.01,"techniques":{"vectorize":3,"unroll":1}})" + "\n";
}

constexpr const char *kStart =
    R"({"event":"start","stage":"rl","variant":"contrastive","config":{"rl":{"steps":9}}})"
    "\n";

std::string slurp(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The records of an event file, with both checksums verified.
std::vector<std::string> records_of(const std::string &bytes) {
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + at, 8);
    REQUIRE(at + 16 + size <= bytes.size());
    const std::string data = bytes.substr(at + 12, size);
    REQUIRE(bytes.substr(at, 16 + size) == tensorboard_record(data));
    records.push_back(data);
    at += 16 + size;
  }
  return records;
}

} // namespace

TEST_CASE("CRC-32C is that of iSCSI") {
  // RFC 3720, B.4: 32 bytes of zeros, and the digits that every CRC is quoted with.
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(crc32c("123456789") == 0xe3069283u);
}

TEST_CASE("an event is the bytes that its protocol buffer prescribes") {
  const std::string expected("\x09\0\0\0\0\0\0\xf8\x3f"                   // wall_time = 1.5
                             "\x10\xac\x02"                               // step = 300
                             "\x2a\x0b\x0a\x09\x0a\x02kl\x15\0\0\x80\x3e" // summary: kl = 0.25
                             ,
                             25);
  CHECK(scalar_event(1.5, 300, {{"kl", 0.25}}) == expected);
}

TEST_CASE(
    "a stage that resumed shows the steps of the resumed run, and half a line is only counted") {
  const TemporaryFolder folder;
  std::string log = kStart;
  for (int step = 1; step <= 6; ++step)
    log += step_line(step, 0.1 * step);
  log += R"({"event":"start","stage":"rl","variant":"contrastive","resumed_from_step":4})"
         "\n" +
         step_line(5, 9) + "{\"event\":\"st";
  folder.write("run/log.jsonl", log);
  const auto read = read_training_logs({folder.path / "run/"});
  REQUIRE(read);
  REQUIRE(read->stages.size() == 1);
  const StageLog &stage = read->stages[0];
  CHECK(stage.label == "rl contrastive");
  CHECK(stage.starts == 2);
  REQUIRE(stage.steps.size() == 5);
  CHECK(stage.steps[3].values.at("reward_mean") == doctest::Approx(0.4));
  CHECK(stage.steps[4].values.at("reward_mean") == 9);
  CHECK(stage.steps[0].time_s == 1767323045);
  CHECK(read->unreadable == 1);
  CHECK_FALSE(stage.seconds);
}

TEST_CASE("folders without a log, and logs without a readable line, are refused") {
  const TemporaryFolder folder;
  CHECK(has(describe(read_training_logs({folder.path}).error()), "log.jsonl"));
  folder.write("log.jsonl", "half a li\n");
  CHECK(has(describe(read_training_logs({folder.path}).error()), "no readable line"));
}

TEST_CASE("the best of a task is its best verified proposal by any policy, and evaluations run "
          "again replace each other") {
  const TemporaryFolder folder;
  folder.write(
      "run/log.jsonl",
      R"({"event":"proposal","stage":"eval","policy":"random","task":"a","outcome":"verified","speedup":1.5}
{"event":"proposal","stage":"eval","policy":"random","task":"a","outcome":"wrong_result","speedup":99}
{"event":"proposal","stage":"eval","policy":"builtin","task":"a","outcome":"verified","speedup":2.5}
{"event":"proposal","stage":"eval","policy":"builtin","task":"b","outcome":"crash"}
{"event":"proposal","stage":"eval","policy":"builtin","task":"b","outcome":"verified","best_speedup":1.0}
{"event":"best_of_k","stage":"eval","policy":"builtin","k":4,"geomean":1.1,"tasks":2}
{"event":"best_of_k","stage":"eval","policy":"builtin","k":4,"geomean":1.3,"low":1.2,"high":1.4,"tasks":2}
)");
  const auto log = read_training_logs({folder.path / "run"});
  REQUIRE(log);
  REQUIRE(log->tasks.size() == 2);
  CHECK(log->tasks[0].best == std::map<std::string, double>{{"builtin", 2.5}, {"random", 1.5}});
  CHECK(log->tasks[0].proposals == 3);
  CHECK(log->tasks[0].verified == 2);
  CHECK(log->tasks[1].best.empty());
  CHECK(log->timed == 2);
  REQUIRE(log->best_of_k.size() == 1);
  CHECK(log->best_of_k[0].geomean == 1.3);
}

TEST_CASE("of a pair that an evaluation logs both ways one is shown, the newest") {
  const TemporaryFolder folder;
  const auto pair = [](const std::string &a, const std::string &b, double ratio) {
    return R"({"event":"paired","stage":"eval","policy":")" + a + R"(","against":")" + b +
           R"(","k":1,"ratio":)" + std::to_string(ratio) + R"(,"low":0.5,"high":2,"tasks":3})" +
           "\n";
  };
  folder.write("run/log.jsonl",
               kStart + pair("builtin", "random", 1.1) + pair("random", "builtin", 0.9) +
                   pair("builtin", "evolve", 1.2) + pair("builtin", "random", 1.25));
  const auto log = read_training_logs({folder.path / "run"});
  REQUIRE(log);
  REQUIRE(log->paired.size() == 2);
  CHECK(log->paired[0].against == "evolve");
  CHECK(log->paired[1].against == "random");
  CHECK(log->paired[1].ratio == 1.25);
}

TEST_CASE("a report is one page and a file of events a stage, every record with right checksums") {
  const TemporaryFolder folder;
  std::string log = kStart;
  for (int step = 1; step <= 20; ++step)
    log += step_line(step, 0.05 * step);
  log +=
      R"json({"event":"best_of_k","stage":"eval","policy":"<builtin>","k":1,"geomean":1.2,"low":1.1,"high":1.3,"tasks":9}
{"event":"best_of_k","stage":"eval","policy":"random","k":1,"geomean":1.0,"low":0.9,"high":1.1,"tasks":9}
{"event":"paired","stage":"eval","policy":"<builtin>","against":"random","k":1,"ratio":1.2,"low":1.05,"high":1.35,"tasks":9}
{"event":"analysis","stage":"eval","policy":"<builtin>","faster_accuracy":0.8,"faster_count":40,"faster_chance":0.5}
{"event":"policy","stage":"eval","policy":"endpoint","answers":{"usable":5,"malformed":2},"reasons":{"a <b> is missing":2},"prompt_tokens":900,"answer_tokens":100,"estimated":true}
{"event":"policy","stage":"eval","policy":"endpoint","answers":{"usable":4,"host_code":1},"prompt_tokens":20,"answer_tokens":3}
{"event":"cheat","stage":"rl","task":"softmax/x","moves":["cache()"],"message":"stale outputs"}
)json";
  folder.write("run/log.jsonl", log);
  const std::string page = folder.path / "out.html";
  REQUIRE(run_report({.runs = {folder.path / "run"}, .page = page, .quiet = true}));
  const std::string html = slurp(page);
  CHECK(count(html, "<svg") == count(html, "</svg>"));
  CHECK(count(html, "<svg") >= 4);
  CHECK(has(html, "Reward, mean of the step"));
  CHECK(has(html, "&lt;builtin&gt;"));
  CHECK_FALSE(has(html, "<builtin>"));
  CHECK(has(html, "1.050 to 1.350"));
  CHECK(has(html, "80.0%"));
  CHECK(has(html, "stale outputs"));
  CHECK(has(html, "<td class='n '>12</td><td class='n '>9</td><td class='n '>2</td>"));
  CHECK(has(html, "1023<small>partly estimated"));
  CHECK(has(html, "2 a &lt;b&gt; is missing"));
  CHECK(has(html, "Not in these logs: Supervised fine-tuning (sft)"));
  for (const char *outside : {"http://", "https://", "<script", "<link", "@import", "nan", "inf'"})
    CHECK_MESSAGE(!has(html, outside), outside);

  const auto place = folder.path / "tensorboard" / "rl-contrastive";
  REQUIRE(std::filesystem::is_directory(place));
  const auto file = std::filesystem::directory_iterator(place)->path();
  CHECK(has(file.filename().string(), "events.out.tfevents.1767323045"));
  const auto records = records_of(slurp(file));
  REQUIRE(records.size() == 21);
  CHECK(has(records[0], "brain.Event:2"));
  CHECK(has(records[1], "rl/reward_mean"));
  CHECK(has(records[1], "techniques/vectorize"));
}

TEST_CASE("scores of the CPU backend are shown as no speedups, and a GPU by its name") {
  const auto page = [](const std::string &device) {
    TrainingLog log;
    log.best_of_k = {{.policy = "random", .device = device, .k = 4, .geomean = 1.0, .tasks = 2}};
    return render_training_page({}, log);
  };
  CHECK(has(page("cpu"), "Nothing was timed"));
  CHECK_FALSE(has(page("cpu"), "1.00\xc3\x97"));
  CHECK_FALSE(has(page("NVIDIA H200"), "Nothing was timed"));
  CHECK(has(page("NVIDIA H200"), "Measured on NVIDIA H200."));
  CHECK(has(page("NVIDIA H200"), "1.00\xc3\x97"));
}

TEST_CASE("plots leave out what is no number and stay inside their frame") {
  LinePlot plot{.title = "t", .x_label = "x", .log_y = true};
  CHECK(draw(plot) == "");
  plot.series = {{"a", 0, {{1, NAN}, {2, 0}, {3, -1}}}};
  CHECK(draw(plot) == "");
  plot.series[0].points.push_back({4, 2, 0, 3});
  const std::string one = draw(plot);
  CHECK(has(one, "<circle"));
  CHECK_FALSE(has(one, "nan"));
  CHECK(draw_ratios("none", {}) == "");
}

TEST_CASE("a page that cannot be written is an error that names it") {
  const TemporaryFolder folder;
  folder.write("run/log.jsonl", kStart);
  const auto done =
      run_report({.runs = {folder.path / "run"}, .page = folder.path / "no/such/page.html"});
  REQUIRE_FALSE(done);
  CHECK(has(done.error().message, "page.html"));
}
