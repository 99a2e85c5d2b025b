// Text, JSON and HTML of the report on a whole program.
#include "server/cli/report/program_report.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::cli;

namespace {

using State = ProgramKernel::State;

ProgramKernel kernel(const std::string &name, double total_ns, State state, const std::string &why = "") {
  return {.name = name,
          .file = "main.cu",
          .launches = 10,
          .total_ns = total_ns,
          .gpu_share = total_ns / 1e9,
          .run_share = total_ns / 2e9,
          .state = state,
          .why = why};
}

/// A run of 2 s, of which the GPU works 1 s, with a kept edit, a left-out edit and a kernel that failed.
ProgramReport sample() {
  ProgramReport report;
  report.folder = "/home/me/heat";
  report.run = "make run";
  report.gpu_ns = 1e9;
  report.first_runs_s = Measured{2, 1.9, 2.1, 3};
  report.kernels = {kernel("step", 8e8, State::Kept), kernel("norm", 1.5e8, State::LeftOut, "stdout: line 3\ndiffers"),
                    kernel("init", 5e7, State::Failed, "its task is not known")};
  report.kernels[0].moves = {"vectorize(4)"};
  report.kernels[0].speedup = model::Speedup{1.8, 1.78, 1.82, 100, "NVIDIA H200"};
  report.kernels[0].could_save = 0.75;
  report.kernels[0].changed_total_ns = 4.5e8;
  report.kernels[1].moves = {"template(sum)"};
  report.original_s = Measured{2, 1.99, 2.01, 8};
  report.changed_s = Measured{1.6, 1.59, 1.61, 8};
  report.ratio = Measured{1.25, 1.24, 1.26, 8};
  report.changed_gpu_ns = 6.5e8;
  report.texts = 2;
  report.not_compared = {"stdout: 1 number or word is masked"};
  report.patch = "--- a/main.cu\n";
  report.patch_path = "/tmp/x.patch";
  report.changed_files = {"main.cu"};
  report.outcome = "The whole run is 1.25x [1.24, 1.26] faster, with the same output.";
  return report;
}

} // namespace

TEST_CASE("a launch that takes another time in the program than in the task is pointed out") {
  ProgramReport report = sample();
  report.kernels[0].task_ns = 6e7; // 80 ms in the program
  CHECK(render_text(report, {}).find("a launch takes") == std::string::npos);
  report.kernels[0].task_ns = 2e7;
  CHECK(render_text(report, {}).find("; a launch takes 80.0 ms in the program and 20.0 ms in the task") !=
        std::string::npos);
  CHECK(render_json(report)["kernels"][0]["task_ns"] == 2e7);
}

TEST_CASE("the text has shares, Amdahl's ceiling, each kernel's result and the whole run's time") {
  CHECK(
      render_text(sample(), {}) ==
      "make run in /home/me/heat\n"
      "The run takes 2.00 s, of which the GPU works 1.00 s (50.0%): at best 2.00x of the run.\n"
      "  kernel  launches  GPU time  of GPU  of run  run at best  result\n"
      "  step          10    800 ms   80.0%   40.0%        1.43x  1.80x [1.78, 1.82] vectorize(4); "
      "in the program 800 ms -> 450 ms\n"
      "  norm          10    150 ms   15.0%    7.5%        1.08x  left out: stdout: line 3 differs (template(sum))\n"
      "  init          10   50.0 ms    5.0%    2.5%        1.03x  failed: its task is not known\n"
      "  1 kept, 1 left out, 1 failed\n"
      "Whole run: 2.00 s [1.99 s, 2.01 s] -> 1.60 s [1.59 s, 1.61 s], ratio 1.250 [1.240, 1.260] over 8 pairs\n"
      "GPU time: 1.00 s -> 650 ms\n"
      "Compared in each run: exit status, 2 texts (stdout and written files)\n"
      "stdout: 1 number or word is masked\n"
      "The whole run is 1.25x [1.24, 1.26] faster, with the same output.\n"
      "Patch: /tmp/x.patch (main.cu); use it with: patch -p1 </tmp/x.patch\n");
}

TEST_CASE("many kernels are cut with a count, and all states are counted") {
  const std::string text = render_text(sample(), {.max_rows = 1});
  CHECK(text.find("  and 2 more, which --json and --html list\n  1 kept, 1 left out, 1 failed\n") != std::string::npos);
  CHECK(text.find("norm") == std::string::npos);
}

TEST_CASE("what was not measured is a dash or null, never 0") {
  ProgramReport report = sample();
  report.first_runs_s.reset();
  report.original_s = report.changed_s = report.ratio = std::nullopt;
  report.changed_gpu_ns.reset();
  report.kernels[0].run_share.reset();
  report.patch_path.clear();
  const std::string text = render_text(report, {});
  CHECK(text.find("GPU time 1.00 s.\n") != std::string::npos);
  CHECK(text.find("80.0%       -            -  1.80x") != std::string::npos);
  CHECK(text.find("Whole run") == std::string::npos);
  CHECK(text.find("Patch") == std::string::npos);
  const nlohmann::json json = render_json(report);
  CHECK(json["ratio"].is_null());
  CHECK(json["patch_path"].is_null());
  CHECK(json["kernels"][0]["run_share"].is_null());
  CHECK(json["kernels"][2]["changed_total_ns"].is_null());
  CHECK(json["kernels"][2]["state"] == "failed");
}

TEST_CASE("JSON and the page have the program beside the kernels") {
  Report report;
  CHECK_FALSE(render_json(report).contains("program"));
  report.program = std::make_shared<const ProgramReport>(sample());
  CHECK(render_json(report)["program"]["ratio"]["low"] == 1.24);
  const std::string html = render_html(report);
  CHECK(html.find("<section id='program'>") != std::string::npos);
  CHECK(html.find("template(sum)") != std::string::npos);
}
