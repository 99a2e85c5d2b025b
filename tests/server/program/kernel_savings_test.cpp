#include "runner/capture/files/kernel_names.h"
#include "server/program/kernel_savings.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace warpwright::program;
using std::chrono::milliseconds;
namespace capture = warpwright::capture;

namespace {

/// The processes of the recorded capture in tests/data.
std::vector<capture::ProcessFolder> recorded() {
  std::vector<capture::ProcessFolder> processes;
  for (const auto &path : capture::process_folders(WARPWRIGHT_SOURCE_DIR "/tests/data/capture")) {
    auto process = capture::read_process(path);
    REQUIRE(process);
    processes.push_back(*std::move(process));
  }
  return processes;
}

std::vector<milliseconds> split(milliseconds total, std::vector<double> savings, milliseconds shortest) {
  return split_budget(total, savings, shortest);
}

} // namespace

TEST_CASE("a kernel's name has no namespaces, template arguments and parameters") {
  CHECK(capture::base_name("_ZN3one5scaleIfEEvPT_i") == "scale");
  CHECK(capture::base_name("_Z3sumPKfPf") == "sum");
  CHECK(capture::base_name("_ZN12_GLOBAL__N_14initEv") == "init");
  CHECK(capture::base_name("plain") == "plain");
}

TEST_CASE("times of a run add up launches of one kernel over grids and processes") {
  const RunTimes times = times_of(recorded());
  REQUIRE(times.kernels.size() == 2);
  CHECK(times.kernels[0].name == "scale");
  CHECK(times.kernels[0].launches == 111);
  CHECK(times.kernels[0].total_ns == doctest::Approx(222'000));
  CHECK(times.kernels[0].mean_ns() == doctest::Approx(2'000));
  CHECK(times.kernels[1].name == "sum");
  CHECK(times.copies_ns == doctest::Approx(1'500));
  CHECK(times.gpu_ns() == doctest::Approx(222'000 + 27'000 + 1'500));
}

TEST_CASE("what a kernel could save ends at its floor, and a run's gain at Amdahl's ceiling") {
  CHECK(possible_saving(100, 25.0) == doctest::Approx(0.75));
  CHECK(possible_saving(100, 120.0) == 0);
  CHECK(possible_saving(100, std::nullopt) == 1);
  CHECK(possible_saving(100, 0.0) == 1);
  CHECK(ceiling(0.5) == doctest::Approx(2));
  CHECK(ceiling(0) == 1);
  CHECK(std::isinf(ceiling(1)));
}

TEST_CASE("time is divided by what could be saved") {
  using Parts = std::vector<milliseconds>;
  CHECK(split(milliseconds(1000), {3, 1}, milliseconds(10)) == Parts{milliseconds(750), milliseconds(250)});
  CHECK(split(milliseconds(1000), {1, 3}, milliseconds(10)) == Parts{milliseconds(250), milliseconds(750)});
  // A part that is too short for a search goes to the others.
  CHECK(split(milliseconds(1000), {8, 1, 1}, milliseconds(110)) ==
        Parts{milliseconds(888), milliseconds(111), milliseconds(0)});
  CHECK(split(milliseconds(1000), {8, 1, 1}, milliseconds(120)) ==
        Parts{milliseconds(1000), milliseconds(0), milliseconds(0)});
  // The largest has its part however short it is; what cannot save anything has none.
  CHECK(split(milliseconds(5), {2, 1, 0}, milliseconds(100)) ==
        Parts{milliseconds(5), milliseconds(0), milliseconds(0)});
  CHECK(split(milliseconds(5), {0, 0}, milliseconds(1)) == Parts{milliseconds(0), milliseconds(0)});
  CHECK(split(milliseconds(5), {}, milliseconds(1)).empty());
}
