#include "server/program/output_mask.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace warpwright::program;

namespace {

/// How `changed` differs from these texts of the original; empty: it agrees.
std::string told(const std::vector<std::string> &originals, const std::string &changed) {
  return TextMask(originals, {}).difference(changed).value_or("");
}

bool agrees(const std::vector<std::string> &originals, const std::string &changed) {
  return told(originals, changed).empty();
}

bool agrees(const std::string &original, const std::string &changed) {
  return agrees(std::vector<std::string>{original, original, original}, changed);
}

RunOutput output(const std::string &text, std::map<std::string, std::string> files = {}, int status = 0) {
  files[kStdout] = text;
  return {.status = status, .texts = std::move(files)};
}

} // namespace

TEST_CASE("words and integers must be equal, white space need not") {
  CHECK(agrees("step 3 of 4\n", "step  3\tof 4\n"));
  CHECK_FALSE(agrees("step 3 of 4\n", "step 2 of 4\n"));
  CHECK_FALSE(agrees("step 3 of 4\n", "stop 3 of 4\n"));
  CHECK_FALSE(agrees("step 3 of 4\n", "step 3 of 4\nmore\n"));
  CHECK_FALSE(agrees("x = -5\n", "x = 5\n"));
  CHECK(told({"a\nb 1\n", "a\nb 1\n"}, "a\nb 2\n") == "line 2: 'b 2' was 'b 1'");
}

TEST_CASE("floating-point numbers may differ as the tasks allow, or by one in the last of at least four digits") {
  CHECK(agrees("sum 1.00000000\n", "sum 1.00000900\n"));
  CHECK_FALSE(agrees("sum 1.00000000\n", "sum 1.00002000\n"));
  CHECK(agrees("sum 12.34\n", "sum 12.35\n"));
  CHECK_FALSE(agrees("sum 12.34\n", "sum 12.36\n"));
  CHECK_FALSE(agrees("sum 0.1\n", "sum 0.2\n"));
  CHECK(agrees("sum 1.234e+05\n", "sum 1.235e+05\n"));
  CHECK_FALSE(agrees("sum 1.5\n", "sum nan\n"));
  CHECK_FALSE(agrees("sum nan\n", "sum 1.5\n"));
  CHECK(agrees("sum nan\n", "sum nan\n"));
}

TEST_CASE("numbers that differ between runs of the original are masked, or have four times their spread") {
  const std::vector<std::string> ports{"port 40123\n", "port 51234\n", "port 33211\n"};
  CHECK(agrees(ports, "port 7\n"));
  CHECK_FALSE(agrees(ports, "gate 7\n"));
  const std::vector<std::string> sums{"total 1.0000\n", "total 1.0001\n", "total 1.0000\n"};
  CHECK(agrees(sums, "total 1.0005\n"));
  CHECK_FALSE(agrees(sums, "total 1.0006\n"));
  CHECK_FALSE(agrees(sums, "total 0.9\n"));
}

TEST_CASE("times are masked, even those that three runs print alike") {
  CHECK(agrees("kernel time: 0.25 (ms)\n", "kernel time: 0.12 (ms)\n"));
  CHECK(agrees("took 12 us\n", "took 6 us\n"));
  CHECK(agrees("12 us in all\n", "6 us in all\n"));
  CHECK(agrees("bandwidth 512.5 GB/s\n", "bandwidth 812.5 GB/s\n"));
  CHECK(agrees("avgKernelTime 3.25\n", "avgKernelTime 2.25\n"));
  CHECK_FALSE(agrees("time of 100 iterations: 0.25 s\n", "time of 99 iterations: 0.12 s\n"));
  CHECK_FALSE(agrees("value 512.5 of GB\n", "value 812.5 of GB\n"));
}

TEST_CASE("lines that tell a check are never masked") {
  CHECK_FALSE(agrees("PASS\n", "FAIL\n"));
  const std::vector<std::string> sums{"checksum 100.0\n", "checksum 104.0\n", "checksum 98.0\n"};
  CHECK(agrees(sums, "checksum 120.0\n"));
  CHECK_FALSE(agrees(sums, "checksum 150.0\n"));
  CHECK_FALSE(agrees("residual at time 5: 0.5\n", "residual at time 5: 0.7\n"));
  CHECK(agrees("max error 1.0e-06\n", "max error 3.0e-06\n")); // within the tasks' absolute tolerance
  CHECK(agrees("max error 0.5\n", "max error 0.25\n"));        // smaller is no loss
  CHECK_FALSE(agrees("max error 0.5\n", "max error -0.25\n"));
  CHECK_FALSE(agrees("max error 1.0e-06\n", "max error 0.1\n"));
}

TEST_CASE("lines in another order agree only where the original changes the order, too") {
  const std::vector<std::string> mixed{"thread a 1\nthread b 2\n", "thread b 2\nthread a 1\n"};
  CHECK(agrees(mixed, "thread b 2\nthread a 1\n"));
  CHECK_FALSE(agrees(mixed, "thread b 3\nthread a 1\n"));
  CHECK_FALSE(agrees("thread a 1\nthread b 2\n", "thread b 2\nthread a 1\n"));
  CHECK(TextMask(mixed, {}).left_out() == "the order of its lines does not count");
}

TEST_CASE("where the number of lines differs, lines that all runs have must be there") {
  const std::vector<std::string> texts{"start\nwaiting\nPASS\n", "start\nwaiting\nwaiting\nPASS\n"};
  CHECK(agrees(texts, "start\nwaiting\nwaiting\nwaiting\nPASS\n"));
  CHECK(told(texts, "start\nwaiting\nFAIL\n") == "it has no line like 'PASS'");
  CHECK(TextMask(texts, {}).left_out().find("3 lines") != std::string::npos);
}

TEST_CASE("a line whose words differ between runs has only its checks compared") {
  const std::vector<std::string> texts{"host one two: PASS\n", "host one: PASS\n"};
  CHECK(agrees(texts, "host: PASS\n"));
  CHECK_FALSE(agrees(texts, "host one: FAIL\n"));
  CHECK(TextMask(texts, {}).left_out() == "1 line is compared by words of checks only");
}

TEST_CASE("binary files are compared as a whole, or not at all where the original changes them") {
  const std::string one("a\0b", 3), other("a\0c", 3);
  CHECK(agrees({one, one}, one));
  CHECK_FALSE(agrees({one, one}, other));
  CHECK(agrees({one, other}, std::string("x\0", 2)));
  CHECK(TextMask(std::vector{one, other}, {}).left_out().find("not compared") != std::string::npos);
}

TEST_CASE("a run differs by its status, by missing and by further files") {
  const std::vector<RunOutput> originals{output("1\n", {{"out.txt", "5\n"}}), output("1\n", {{"out.txt", "5\n"}})};
  const OutputMask mask(originals, {});
  CHECK(mask.differences(originals[0]).empty());
  CHECK(mask.left_out().empty());
  CHECK(mask.differences(output("1\n", {{"out.txt", "5\n"}}, 3)) ==
        std::vector<std::string>{"it ends with the status 3, and the original with 0"});
  CHECK(mask.differences(output("1\n")) == std::vector<std::string>{"it does not write out.txt"});
  CHECK(mask.differences(output("1\n", {{"out.txt", "6\n"}})) ==
        std::vector<std::string>{"out.txt: line 1: '6' was '5'"});
  CHECK(mask.differences(output("1\n", {{"out.txt", "5\n"}, {"core", ""}})) ==
        std::vector<std::string>{"it writes core, which the original does not"});
  const std::vector<RunOutput> named{output("1\n", {{"out.71", ""}}), output("1\n", {{"out.93", ""}})};
  const OutputMask varying(named, {});
  CHECK(varying.differences(output("1\n", {{"out.15", ""}})).empty());
  CHECK(varying.left_out().front().ends_with("writes them: out.71, out.93"));
}
