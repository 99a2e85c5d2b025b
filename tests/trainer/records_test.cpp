// Records survive being written, torn and read again; replay never leaves them.
#include "tests/trainer/temporary_folder.h"
#include "trainer/environment/recorded.h"
#include "trainer/records/record_book.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

using namespace warpwright;
using namespace warpwright::trainer;

namespace {

TrainingTask task_named(const std::string &id) {
  TrainingTask task;
  task.id = id;
  task.family = "copy";
  task.kernel = "copy";
  return task;
}

model::DeviceInfo gpu() {
  model::DeviceInfo device;
  device.kind = "cuda";
  device.name = "NVIDIA Test";
  return device;
}

Measured measured(double ratio) {
  Measured result;
  result.outcome = model::Outcome::Verified;
  result.device = "NVIDIA Test";
  result.reference_time = MeasuredTime{2000, 1990, 2010};
  result.candidate_time = MeasuredTime{2000 / 1.25, 1990 / 1.25, 2010 / 1.25};
  result.speedup = MeasuredRatio{ratio, ratio - 0.0125, ratio + 0.0125, 40};
  result.registers = 32;
  result.occupancy = 0.75;
  result.bound = model::Bound::Memory;
  result.seconds = 0.5;
  result.date = "2026-01-01T00:00:00Z";
  return result;
}

void fill(RecordBook &book) {
  REQUIRE(book.add_device(gpu()));
  REQUIRE(book.add_task(task_named("copy/n=4"), {{"sizes", {{"n", 4}}}}, "hash"));
  REQUIRE(book.add_state("copy/n=4", {{}, "t0", {"a(x=1)", "b()"}}));
  REQUIRE(book.add_state("copy/n=4", {{"a(x=1)"}, "t1", {"b()", "c()"}}));
  REQUIRE(book.add_state("copy/n=4", {{"a(x=1)", "b()"}, "t2", {}}));
  REQUIRE(book.add_verdict("copy/n=4", "t0", measured(1)));
  REQUIRE(book.add_verdict("copy/n=4", "t2", measured(1.25)));
}

} // namespace

TEST_CASE("a book that was written is read back as it was") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path / "records.jsonl";
  {
    auto book = RecordBook::append_to(path);
    REQUIRE(book);
    fill(*book);
  }
  auto book = RecordBook::read(path);
  REQUIRE(book);
  REQUIRE(book->find_state("copy/n=4", {"a(x=1)", "b()"}));
  CHECK(book->find_state("copy/n=4", {"a(x=1)"})->legal == Moves{"b()", "c()"});
  REQUIRE(book->find_verdict("copy/n=4", "t2"));
  CHECK(*book->find_verdict("copy/n=4", "t2") == measured(1.25));
  CHECK(book->find_verdict("copy/n=4", "t2", "another GPU") == nullptr);
  CHECK(book->find_verdict("copy/n=4", "t1") == nullptr);
  CHECK(book->devices().front().name == "NVIDIA Test");
}

TEST_CASE(
    "a task's confirmed speedup is the largest that a fresh worker measured too, on the device") {
  RecordBook book;
  fill(book);
  CHECK_FALSE(book.confirmed_speedup("copy/n=4", "NVIDIA Test"));
  Measured confirmed = measured(4);
  confirmed.confirmed = true;
  REQUIRE(book.add_verdict("copy/n=4", "t3", confirmed));
  REQUIRE(book.add_verdict("copy/n=4", "t4", measured(9)));
  CHECK(book.confirmed_speedup("copy/n=4", "NVIDIA Test") == 4);
  CHECK_FALSE(book.confirmed_speedup("copy/n=4", "another GPU"));
  CHECK_FALSE(book.confirmed_speedup("another", "NVIDIA Test"));
}

TEST_CASE("a line that was torn by a kill costs itself only") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path / "records.jsonl";
  {
    auto book = RecordBook::append_to(path);
    REQUIRE(book);
    fill(*book);
  }
  const auto whole = std::filesystem::file_size(path);
  std::ofstream(path, std::ios::app) << "{\"state\": [0, 1], \"te";
  CHECK(RecordBook::read(path));
  auto book = RecordBook::append_to(path);
  REQUIRE(book);
  CHECK(std::filesystem::file_size(path) == whole);
  CHECK(book->add_state("copy/n=4", {{"b()"}, "t3", {}}));
  CHECK(RecordBook::read(path)->find_state("copy/n=4", {"b()"}));
}

TEST_CASE("a line in the middle that is no record is refused by its number") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path / "records.jsonl";
  std::ofstream(path) << "{\"warpwright_records\":1}\n{\"state\":[7],\"text\":\"\",\"legal\":[]}\n";
  auto book = RecordBook::read(path);
  REQUIRE(!book);
  CHECK(book.error().message.find("line 2") != std::string::npos);
}

TEST_CASE("records of another format are refused") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path / "records.jsonl";
  std::ofstream(path) << "{\"warpwright_records\":2}\n";
  CHECK(!RecordBook::read(path));
}

TEST_CASE("a task that was recorded with another definition is refused") {
  RecordBook book;
  fill(book);
  CHECK(book.add_task(task_named("copy/n=4"), {}, "hash"));
  CHECK(!book.add_task(task_named("copy/n=4"), {}, "another hash"));
}

TEST_CASE("two books are one after adding") {
  RecordBook first, second;
  fill(second);
  REQUIRE(first.add(second));
  REQUIRE(first.add(second));
  CHECK(*first.find_verdict("copy/n=4", "t2") == measured(1.25));
  CHECK(first.find("copy/n=4")->states.size() == 3);
}

TEST_CASE("replay offers only moves that lead to a verdict, and refuses misses") {
  Exclusive<RecordBook> records;
  records.with([](RecordBook &book) { fill(book); });
  RecordedEnvironment environment(records, "NVIDIA Test");
  const TrainingTask task = task_named("copy/n=4");
  CHECK(environment.state(task, {})->legal == Moves{"a(x=1)"});
  CHECK(environment.state(task, {"a(x=1)"})->legal == Moves{"b()"});
  CHECK(!environment.can_measure(task, {"a(x=1)"}));
  CHECK(!environment.measure(task, {"a(x=1)"}, {}));
  CHECK(environment.measure(task, {"a(x=1)", "b()"}, {})->speedup->ratio == 1.25);
  CHECK(environment.open(task)->original == measured(1));
  CHECK(!environment.open(task_named("unknown")));
  CHECK(environment.device()->name == "NVIDIA Test");
}
