// Text and JSON of a report.
#include "tests/server/cli/sample_report.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::cli;

TEST_CASE("times have three significant digits and a unit") {
  CHECK(time_text(512.4) == "512 ns");
  CHECK(time_text(999.7) == "1.00 us");
  CHECK(time_text(98'240) == "98.2 us");
  CHECK(time_text(1'430'000) == "1.43 ms");
  CHECK(time_text(2.5e9) == "2.50 s");
}

TEST_CASE("errors are a dash when unknown and exact when zero") {
  CHECK(error_text(std::nullopt) == "-");
  CHECK(error_text(0.0) == "exact");
  CHECK(error_text(3.14e-7) == "3.1e-07");
}

TEST_CASE("variants are read fastest first, failures last") {
  CHECK(reading_order(sample_kernel()) == std::vector<std::size_t>{2, 1, 0});
}

TEST_CASE("the text shows table, diff and the command that applies") {
  const Report report = sample_report();
  const std::string text = render_text(report.kernels[0], report, {.width = 120});
  CHECK(text.find("template(gemm, tile=64x64x16)  verified      3.1e-07  98.2 us  4.20x [4.11, "
                  "4.28]  NVIDIA H200") != std::string::npos);
  CHECK(text.find("wrong result") != std::string::npos);
  CHECK(text.find("original: 412 us") != std::string::npos);
  CHECK(text.find("+int b;") != std::string::npos);
  CHECK(text.find("warpwright optimize examples/matmul.cu --kernel matmul --apply\n") !=
        std::string::npos);
  CHECK(text.find("\x1b") == std::string::npos);
}

TEST_CASE("a narrow terminal shortens the moves and a long table is cut with a count") {
  const Report report = sample_report();
  const std::string text = render_text(report.kernels[0], report, {.width = 90, .max_rows = 1});
  CHECK(text.find("...") != std::string::npos);
  CHECK(text.find("and 2 more (1 verified, 1 wrong result)") != std::string::npos);
}

TEST_CASE("moves that do not fit into a line go on below") {
  Report report = sample_report();
  report.kernels[0].variants[2].moves = {"block_size(x=16,y=16)", "tiled_transpose(rows=4,tile=64)", "fast_division()"};
  const std::string text = render_text(report.kernels[0], report, {.width = 100});
  CHECK(text.find("\n  block_size(x=16,y=16) ") != std::string::npos);
  CHECK(text.find("\n  + tiled_transpose(rows=4,tile=64) + fast_division()\n") != std::string::npos);
}

TEST_CASE("on a CPU the text promises nothing about speed") {
  const Report report = sample_cpu_report();
  const std::string text = render_text(report.kernels[0], report, {});
  CHECK(text.find("not that it is faster on a GPU") != std::string::npos);
  CHECK(text.find("--apply=checked") != std::string::npos);
  CHECK(text.find("x [") == std::string::npos);
  CHECK(text.find(" us") == std::string::npos);
}

TEST_CASE("where no variant is right, the first says what it came to") {
  Report report = sample_report();
  KernelReport &kernel = report.kernels[0];
  kernel.best.reset();
  for (ReportVariant &variant : kernel.variants)
    variant.verdict.outcome = model::Outcome::WrongResult;
  kernel.variants[0].verdict.message = "y[3] is 1, expected 2";
  CHECK(render_text(kernel, report, {})
            .contains("No variant could be verified.\nOf " + moves_text(kernel.variants[0].moves) +
                      ": y[3] is 1, expected 2\n"));
  kernel.variants[1].verdict.outcome = model::Outcome::Verified;
  CHECK(render_text(kernel, report, {}).contains("leave it as it is"));
}

TEST_CASE("a kernel that failed says why, what is missing and what to insert") {
  const Report report = sample_report();
  const std::string text = render_text(report.kernels[1], report, {});
  CHECK(text.find("scale is never launched in scale.cu. Add a launch") != std::string::npos);
  CHECK(text.find("n: How many elements does x hold?") != std::string::npos);
  CHECK(text.find("// warpwright: n = ...") != std::string::npos);
}

TEST_CASE("the JSON has the promised members, and null where nothing was measured") {
  const nlohmann::json json = render_json(sample_report());
  const auto &kernel = json["kernels"][0];
  CHECK(kernel["file"] == "examples/matmul.cu");
  CHECK(kernel["name"] == "matmul");
  CHECK(kernel["best"] == 2);
  const auto &variant = kernel["variants"][2];
  CHECK(variant["moves"] == nlohmann::json{"template(gemm, tile=64x64x16)"});
  CHECK(variant["outcome"] == "verified");
  CHECK(variant["speedup"]["ratio"].get<double>() == doctest::Approx(4.195).epsilon(0.001));
  CHECK(variant["speedup"]["device"] == "NVIDIA H200");
  CHECK(variant["registers"] == 64);
  CHECK(variant["occupancy"] == 0.5);
  CHECK(variant["plan_hash"] == "0123456789abcdef");
  CHECK(kernel["variants"][0]["speedup"].is_null());
  CHECK(json["kernels"][1]["error"]["remedy"] == "Add a launch");
  CHECK(json["kernels"][1]["best"].is_null());

  const nlohmann::json on_cpu = render_json(sample_cpu_report());
  for (const auto &checked : on_cpu["kernels"][0]["variants"]) {
    CHECK(checked["speedup"].is_null());
    CHECK(checked["time"].is_null());
  }
}
