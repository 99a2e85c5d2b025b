// What `verify` prints of a measured verdict.
#include "runner/service/verdict_table.h"

#include <doctest/doctest.h>
#include <sstream>

namespace warpwright::runner {
namespace {

TEST_CASE("the table shows both times, what the device reached and its clocks, and nothing that is "
          "absent") {
  model::Verdict verdict;
  verdict.outcome = model::Outcome::Verified;
  verdict.measured_sizes = "n=4096";
  verdict.reference_time = model::Time{10'000, 9'900, 10'100, 30, 9'000};
  verdict.candidate_time = model::Time{5'000, 4'900, 5'100, 30};
  verdict.speedup = model::Speedup{2, 1.9, 2.1, 30, "GPU"};
  const auto table = [&] {
    std::ostringstream out;
    print_table(out, verdict);
    return out.str();
  };
  const auto shows = [&](const std::string &part) {
    return table().find(part) != std::string::npos;
  };
  CHECK(shows("device time: reference 10 us, candidate 5 us, speedup 2 [1.9, 2.1], 30 pairs"));
  CHECK(shows("reference: kernels alone 9 us\n"));
  CHECK(!shows("candidate:"));
  CHECK(!shows("as called"));
  CHECK(!shows("clock"));
  verdict.as_called = model::AsCalled{
      {15'000, 14'000, 16'000, 21}, {10'000, 9'000, 11'000, 21}, {1.5, 1.4, 1.6, 21, "GPU"}};
  verdict.candidate_evidence =
      model::Evidence{.bytes_per_s = 3.3e12, .memory_share = 0.824, .bound = model::Bound::Memory};
  verdict.clocks = model::ClockRecord{.sm_mhz = model::Range{1700, 1980}, .power_capped = false};
  CHECK(shows("as called: reference 15 us, candidate 10 us, speedup 1.5"));
  CHECK(shows("candidate: 3300 GB/s (82% of what the device reaches), bound by memory\n"));
  CHECK(shows("SM clock 1700 to 1980 MHz; not power-capped; 0 pairs dropped"));
}

} // namespace
} // namespace warpwright::runner
