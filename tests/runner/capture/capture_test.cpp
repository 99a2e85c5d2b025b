// The capture library in a program, by the fake driver and CUPTI of this folder.
#include "runner/capture/files/contents.h"
#include "support/files.h"
#include "tests/runner/capture/capture_fixture.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace warpwright;
using namespace warpwright::capture;

namespace {

namespace fs = std::filesystem;

const std::string kScale = "_Z5scalePfif", kSum = "_Z3sumPKfPf";

std::string bytes(std::initializer_list<int> values) {
  return std::string(values.begin(), values.end());
}

/// Waits until the folder's capture fulfills the condition.
template <class Condition>
bool comes_true(const CaptureFolder &folder, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    for (const fs::path &path : process_folders(folder.path))
      if (const auto process = read_process(path); process && condition(*process))
        return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

} // namespace

TEST_CASE("distinct launches are recorded with counts, times, places and parameters") {
  const CaptureFolder folder;
  CHECK(folder.run({"launches"}).status.code == 7);
  const ProcessFolder capture = folder.only();
  REQUIRE(capture.launches.size() == 3);
  const auto &[id, scale, runs] = capture.launches[0];
  CHECK(scale.kernel == kScale);
  CHECK(scale.grid == Dimensions{4, 1, 1});
  CHECK(scale.block == Dimensions{256, 1, 1});
  CHECK(scale.shared_bytes == 64);
  CHECK(runs.count == 100);
  CHECK(runs.timed == 100);
  CHECK(runs.total_ns == 200'000);
  CHECK(runs.min_ns == 2000);
  CHECK(runs.median_ns == 2000);
  CHECK(runs.first == 2);
  CHECK(runs.last == 101);

  REQUIRE(scale.parameters->size() == 3);
  const Parameter &pointer = scale.parameters->at(0), &n = scale.parameters->at(1);
  CHECK(pointer.bytes == std::string(8, '\0'));
  REQUIRE(pointer.pointers.size() == 1);
  CHECK(pointer.pointers[0].offset == 0);
  CHECK(pointer.pointers[0].extent_bytes == 4096);
  CHECK(pointer.pointers[0].memory == "device");
  CHECK(n.bytes == bytes({0xe8, 3, 0, 0}));
  CHECK(n.pointers.empty());

  const Launch &sum = capture.launches[1].operation;
  CHECK(sum.kernel == kSum);
  CHECK(capture.launches[1].statistics.count == 3);
  REQUIRE(sum.parameters->size() == 2);
  CHECK(sum.parameters->at(0).pointers.at(0).allocation == pointer.pointers[0].allocation);
  CHECK(sum.parameters->at(1).pointers.at(0).allocation != pointer.pointers[0].allocation);
  CHECK(sum.parameters->at(1).pointers.at(0).extent_bytes == 1024);

  const Launch &behind = capture.launches[2].operation;
  CHECK(capture.launches[2].statistics.count == 1);
  CHECK(behind.parameters->at(0).pointers.at(0).offset == 512);
  CHECK(behind.parameters->at(0).pointers.at(0).extent_bytes == 3584);
  CHECK(behind.parameters->at(0).pointers.at(0).allocation == pointer.pointers[0].allocation);
}

TEST_CASE("buffers are seen before the wanted launch") {
  const CaptureFolder folder;
  CaptureFolder second; // that of the second run, inside the first
  fs::remove(second.path);
  second.path = folder.path / kContentsFolder;
  fs::create_directories(second.path);
  const fs::path wanted = folder.path / kWantedFile;
  const auto seen_at = [&](std::uint64_t run) {
    REQUIRE(write_private(wanted, to_line(WantedLaunch{kScale, {4, 1, 1}, {256, 1, 1}, run}) + "\n"));
    const CapturedRun ran = second.run({"contents"}, {std::string(kWantedVariable) + "=" + wanted.string()});
    CHECK(ran.status.code == 7);
    const auto seen = read_contents(folder.path);
    REQUIRE(seen);
    REQUIRE(!seen->empty());
    const auto found = std::ranges::find(*seen, run, [](const SeenBuffer &one) { return one.launch.run; });
    REQUIRE(found != seen->end());
    return *found;
  };
  const SeenBuffer ascending = seen_at(1), permutation = seen_at(2);
  CHECK(ascending.launch.kernel == kScale);
  CHECK(ascending.parameter == 0);
  CHECK(ascending.at == 0);
  CHECK(ascending.size_bytes == 4096);
  CHECK(ascending.seen_bytes == 4096);
  const ElementStatistics &numbers = ascending.types.at("int32");
  CHECK(numbers.order == "sorted");
  CHECK(numbers.quantiles.front() == 0);
  CHECK(numbers.quantiles[16] == 2 * (16 * 1023 / 32));
  CHECK(numbers.quantiles.back() == 2 * 1023);
  CHECK(permutation.types.at("int32").order == "permutation");
  CHECK(permutation.types.at("int32").quantiles.back() == 1023);
}

TEST_CASE("a wanted launch in a graph is counted as skipped") {
  const CaptureFolder folder;
  const fs::path wanted = folder.path / kWantedFile;
  REQUIRE(write_private(wanted, to_line(WantedLaunch{kScale, {2, 1, 1}, {256, 1, 1}, 0}) + "\n"));
  CHECK(folder.run({"graph"}, {std::string(kWantedVariable) + "=" + wanted.string()}).status.code == 7);
  const ProcessFolder capture = folder.only();
  CHECK(std::ranges::count(capture.process.skipped, "the launch is captured into a graph", &Skipped::why) == 1);
  CHECK_FALSE(fs::exists(capture.path / kContentsFile));
}

TEST_CASE("copies, fills, the order and the process are recorded") {
  const CaptureFolder folder;
  folder.run({"launches"});
  const ProcessFolder capture = folder.only();
  REQUIRE(capture.copies.size() == 3);
  CHECK(capture.copies[0].operation.direction == "host to device");
  CHECK(capture.copies[0].operation.size_bytes == 4096);
  CHECK(capture.copies[0].operation.to->extent_bytes == 4096);
  CHECK_FALSE(capture.copies[0].operation.from);
  CHECK(capture.copies[0].statistics.total_ns == 500);
  CHECK(capture.copies[1].operation.direction == "fill");
  CHECK(capture.copies[1].operation.size_bytes == 1024);
  CHECK(capture.copies[2].operation.direction == "device to host");

  const auto order = read_order(capture.path);
  REQUIRE(order);
  const std::vector<std::pair<Id, std::uint64_t>> expected{{0, 1}, {1, 1}, {2, 100},
                                                           {3, 3}, {4, 1}, {5, 1}};
  CHECK(*order == expected);

  CHECK(capture.process.command == std::vector<std::string>{CaptureFolder::program(), "launches"});
  CHECK(capture.process.ended);
  CHECK(capture.process.stopped == "");
  CHECK(capture.process.driver_version == 13000);
  CHECK(capture.process.gpus == std::vector<Gpu>{{"Fake GPU", "9.0"}});
  CHECK(capture.process.totals.launches == 104);
  CHECK(capture.process.totals.copies == 3);
  CHECK(capture.process.totals.gpu_ns == 101 * 2000 + 3 * 3000 + 3 * 500);
  CHECK(capture.process.skipped.empty());
}

TEST_CASE("clusters, cooperative launches, packed parameters and refused launches are recorded") {
  const CaptureFolder folder;
  CHECK(folder.run({"forms"}).status.code == 7);
  const auto launches = folder.only().launches;
  REQUIRE(launches.size() == 4);
  CHECK(launches[0].operation.cluster == Dimensions{2, 1, 1});
  CHECK(launches[0].operation.cooperative);
  CHECK(launches[0].operation.grid == Dimensions{8, 1, 1});
  CHECK(launches[1].operation.cooperative);
  CHECK(launches[1].operation.cluster == Dimensions{});
  CHECK(launches[1].operation.parameters->size() == 2);
  REQUIRE(launches[2].operation.parameters->size() == 1);
  const Parameter &packed = launches[2].operation.parameters->at(0);
  CHECK(packed.bytes.size() == 24);
  CHECK(packed.bytes.substr(0, 4) == bytes({5, 0, 0, 0}));
  CHECK(packed.bytes.substr(16) == bytes({0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
  REQUIRE(packed.pointers.size() == 1);
  CHECK(packed.pointers[0].at == 8);
  CHECK(packed.pointers[0].offset == 8);
  CHECK(launches[3].statistics.failed == 1);
  CHECK(launches[3].statistics.count == 0);
  CHECK_FALSE(launches[3].statistics.first);
}

TEST_CASE("modules are kept once each, and their functions are forgotten at the unload") {
  const CaptureFolder folder;
  CHECK(folder.run({"modules"}).status.code == 7);
  const ProcessFolder capture = folder.only();
  std::set<std::string> cubins;
  for (const auto &file : fs::directory_iterator(capture.path / kModulesFolder)) {
    CHECK(file.path().extension() == ".cubin");
    CHECK(file.status().permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    cubins.insert(*read_file(file.path()));
  }
  CHECK(cubins == std::set<std::string>{"the first cubin", "the second cubin"});
  REQUIRE(capture.launches.size() == 2);
  CHECK(capture.launches[0].operation.parameters->at(0).bytes.size() == 4);
  CHECK(capture.launches[1].operation.parameters->at(0).bytes.size() == 8);
}

TEST_CASE("launches under stream capture are counted where the graph runs them") {
  const CaptureFolder folder;
  CHECK(folder.run({"graph"}).status.code == 7);
  const ProcessFolder capture = folder.only();
  REQUIRE(capture.launches.size() == 2);
  const auto &scale = capture.launches[0], &sum = capture.launches[1];
  CHECK(scale.operation.kernel == kScale);
  CHECK(scale.statistics.count == 0);
  CHECK(scale.statistics.captured == 2);
  CHECK(scale.statistics.in_graphs == 10);
  CHECK(scale.statistics.total_ns == 20'000);
  CHECK(scale.operation.parameters->size() == 3);
  CHECK(sum.statistics.count == 1);
  CHECK(sum.statistics.captured == 1);
  CHECK(sum.statistics.in_graphs == 5);
  CHECK(sum.statistics.timed == 6);
  REQUIRE(capture.graphs.size() == 1);
  CHECK(capture.graphs[0].statistics.count == 5);
  CHECK(capture.graphs[0].operation.operations ==
        std::map<Id, std::uint64_t>{{scale.id, 10}, {sum.id, 5}});
  const auto order = read_order(capture.path);
  REQUIRE(order);
  CHECK(*order ==
        std::vector<std::pair<Id, std::uint64_t>>{{sum.id, 1}, {capture.graphs[0].id, 5}});
}

TEST_CASE("launches of several threads are all counted") {
  const CaptureFolder folder;
  CHECK(folder.run({"threads"}).status.code == 7);
  const auto launches = folder.only().launches;
  REQUIRE(launches.size() == 2);
  for (const auto &launch : launches) {
    CHECK(launch.statistics.count == 2000);
    CHECK(launch.statistics.timed == 2000);
  }
}

TEST_CASE("a killed program keeps what was written") {
  const CaptureFolder folder;
  auto program = folder.start_waiting();
  REQUIRE(program);
  CHECK(comes_true(folder, [](const ProcessFolder &capture) {
    return capture.process.totals.launches == 1000 && capture.launches[0].statistics.timed == 1000;
  }));
  program->kill(SIGKILL);
  CHECK(program->wait().signal == SIGKILL);
  const ProcessFolder capture = folder.only();
  CHECK_FALSE(capture.process.ended);
  REQUIRE(capture.launches.size() == 1);
  CHECK(capture.launches[0].statistics.count == 1000);
  const auto order = read_order(capture.path);
  REQUIRE(order);
  CHECK(*order == std::vector<std::pair<Id, std::uint64_t>>{{0, 1000}});
}

TEST_CASE("the thread that writes leaves signals to the program") {
  const CaptureFolder folder;
  auto program = folder.start_waiting();
  REQUIRE(program);
  CHECK(comes_true(folder, [](const ProcessFolder &capture) {
    return capture.process.totals.launches == 1000; // the thread has written them
  }));
  std::ofstream(folder.path / "go");
  const int output = program->release_stdout();
  char text[100] = {};
  CHECK(::read(output, text, sizeof text - 1) > 0);
  ::close(output);
  CHECK(std::string(text).find("signal threads 0\n") != std::string::npos);
  CHECK(program->wait().code == 7);
}

TEST_CASE("recording ends after the given time and the program goes on") {
  const CaptureFolder folder;
  auto environment = folder.environment();
  environment.push_back(std::string(kMillisecondsVariable) + "=1");
  auto program =
      Process::spawn({CaptureFolder::program(), "waiting", (folder.path / "go").string()},
                     {.environment = environment});
  REQUIRE(program);
  CHECK(comes_true(folder,
                   [](const ProcessFolder &capture) { return !capture.process.stopped.empty(); }));
  std::ofstream(folder.path / "go");
  CHECK(program->wait().code == 7);
  const ProcessFolder capture = folder.only();
  CHECK(capture.process.stopped == "the time given with --for was over");
  CHECK(capture.process.ended);
  REQUIRE(capture.launches.size() == 1);
  CHECK(capture.launches[0].operation.kernel == kScale);
  CHECK(capture.launches[0].statistics.timed == 1000);
}

TEST_CASE("a child that only forks writes nothing") {
  const CaptureFolder folder;
  CHECK(folder.run({"forked"}).status.code == 7);
  CHECK_FALSE(folder.only().process.ended); // the parent ended by _exit
}

TEST_CASE("each process has a folder of its own") {
  const CaptureFolder folder;
  CHECK(folder.run({"children"}).status.code == 7);
  const auto folders = process_folders(folder.path);
  REQUIRE(folders.size() == 2);
  std::map<std::string, ProcessFolder> by_argument;
  for (const fs::path &path : folders) {
    ProcessFolder capture = CaptureFolder::read(path);
    by_argument[capture.process.command.at(1)] = std::move(capture);
  }
  CHECK(by_argument.at("launches").process.totals.launches == 104);
  CHECK(by_argument.at("children").process.totals.launches == 2);
  CHECK(by_argument.at("children").process.ended);
}

TEST_CASE("the program's output, status, errno and signals are as without a capture") {
  const CaptureFolder folder;
  const std::string expected = "launches: errno 123, signal threads 0\n";
  const auto alone = run_captured({CaptureFolder::program(), "launches"}, "",
                                  std::chrono::seconds(60), {.pipe_stderr = true});
  REQUIRE(alone);
  CHECK(alone->output == expected);
  const CapturedRun captured = folder.run({"launches"});
  CHECK(captured.output == expected);
  CHECK(captured.errors == "");
  CHECK(captured.status.code == alone->status.code);
}

TEST_CASE("a CUPTI that refuses changes nothing, and the reason is written") {
  for (const auto &[refused, reason] :
       {std::pair("subscribe", "another profiler or debugger holds CUPTI"),
        std::pair("records", "only administrators profile")}) {
    CAPTURE(refused);
    const CaptureFolder folder;
    const CapturedRun run =
        folder.run({"launches"}, {std::string("FAKE_CUPTI_REFUSES=") + refused});
    CHECK(run.output == "launches: errno 123, signal threads 0\n");
    CHECK(run.errors == "");
    CHECK(run.status.code == 7);
    const ProcessFolder capture = folder.only();
    CHECK(capture.process.stopped.find(reason) != std::string::npos);
    CHECK(capture.launches.empty());
  }
}

TEST_CASE("a CUPTI that the program has loaded is taken") {
  const CaptureFolder folder;
  folder.run({"launches"}, {"CUDA_HOME=/nowhere", "LOAD_CUPTI=" WARPWRIGHT_CAPTURE_TEST_DIR
                                                  "/toolkit/lib64/libcupti.so.13"});
  CHECK(folder.only().process.cupti == "libcupti.so.13");
  CHECK(folder.only().process.totals.launches == 104);
}

TEST_CASE("launches are counted also where no GPU times come") {
  const CaptureFolder folder;
  CHECK(folder.run({"launches"}, {"FAKE_CUPTI_REFUSES=next_record"}).status.code == 7);
  const ProcessFolder capture = folder.only();
  REQUIRE(capture.launches.size() == 3);
  CHECK(capture.launches[0].statistics.count == 100);
  CHECK(capture.launches[0].statistics.timed == 0);
  CHECK_FALSE(capture.launches[0].statistics.median_ns);
}

TEST_CASE("a folder that cannot be written changes nothing") {
  const CaptureFolder folder;
  const CapturedRun run =
      folder.run({"launches"}, {std::string(kFolderVariable) + "=/nowhere/at/all"});
  CHECK(run.output == "launches: errno 123, signal threads 0\n");
  CHECK(run.status.code == 7);
}

TEST_CASE("only the owner can read a capture") {
  const CaptureFolder folder;
  folder.run({"launches"});
  const fs::path process = folder.only().path;
  CHECK(fs::status(process).permissions() == fs::perms::owner_all);
  int count = 0;
  for (const auto &file : fs::directory_iterator(process)) {
    CHECK(file.status().permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    ++count;
  }
  CHECK(count == 4);
}
