// The words for a module's verdict: every number of it, and no other.
#include "server/kernel_status.h"
#include "server/measured_text.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::server;

namespace {

model::Speedup ratio(double value) {
  return {value, value - 0.05, value + 0.05, 40, "NVIDIA H200"};
}

model::Time microseconds(double value) { return {.median_ns = value * 1000, .samples = 40}; }

model::Verdict measured() {
  model::Verdict verdict;
  verdict.outcome = model::Outcome::Verified;
  verdict.device = {.kind = "cuda", .name = "NVIDIA H200"};
  verdict.date = "2026-01-02T03:04:05Z";
  verdict.reference_time = microseconds(18);
  verdict.candidate_time = microseconds(10);
  verdict.speedup = ratio(1.8);
  verdict.as_called = model::AsCalled{microseconds(60), microseconds(20), ratio(3)};
  verdict.baselines = {{"torch.compile", microseconds(30), microseconds(20), ratio(1.5), ""},
                       {"torch.compile+graph", {}, {}, {}, "it cannot be captured"}};
  verdict.candidate_evidence = model::Evidence{.memory_share = 0.91, .bound = model::Bound::Memory};
  return verdict;
}

} // namespace

TEST_CASE("a lens names each baseline that was measured, and the GPU") {
  CHECK(module_summary(measured()) ==
        "1.80x eager+graph, 3.00x eager, 1.50x torch.compile · verified · NVIDIA H200");
}

TEST_CASE("a faster baseline is advised, in the way of calling in which it is faster") {
  CHECK(keep_text(measured()).empty());
  CHECK(slower_text(measured()).empty());
  model::Verdict verdict = measured();
  verdict.baselines = {{"torch.compile", microseconds(10), microseconds(20), ratio(0.5), ""}};
  CHECK(keep_text(verdict) == "keep torch.compile: 2.00x faster than the best verified plan as "
                              "called; the plan is 1.80x faster in a CUDA graph");
  CHECK(slower_text(verdict) == "slower than torch.compile as called");
  verdict.baselines.push_back(
      {"torch.compile+graph", microseconds(8), microseconds(10), ratio(0.8), ""});
  CHECK(keep_text(verdict) == "keep torch.compile: 1.25x faster than the best verified plan in a "
                              "CUDA graph, 2.00x as called");
  verdict.as_called->speedup = ratio(0.4);
  CHECK(keep_text(verdict) == "keep torch.compile: 1.25x faster than the best verified plan in a "
                              "CUDA graph, eager 2.50x as called");
  CHECK(slower_text(verdict) == "slower than torch.compile in a CUDA graph and eager as called");
}

TEST_CASE("a baseline whose interval holds 1 is not called faster") {
  model::Verdict verdict = measured();
  verdict.baselines = {{"torch.compile", microseconds(19), microseconds(20), ratio(0.96), ""}};
  CHECK(keep_text(verdict).empty());
  CHECK(strongest_baselines(verdict).size() == 2);
  CHECK(strongest_baselines(verdict)[1].name == "torch.compile");
}

TEST_CASE("without a GPU no number is shown, and without a time the reason") {
  model::Verdict verdict = measured();
  verdict.device.kind = "cpu";
  CHECK(module_summary(verdict) ==
        "variant checked (correct on the CPU backend, speed not measured)");
  CHECK(measured_comment(verdict, {}).find("It has not run on a GPU") != std::string::npos);
  verdict = {};
  verdict.device = {.kind = "cuda", .name = "NVIDIA H200"};
  verdict.checks = {{"the task is not degenerate", false, "its output is constant"}};
  CHECK(module_summary(verdict) ==
        "the task is degenerate: its output is constant · verified · NVIDIA H200");
  verdict.conditioning = model::Conditioning{"y", 0.05, 0.02, 0.03, 0.1};
  CHECK(module_summary(verdict).ends_with(" · verified · ill-conditioned · NVIDIA H200"));
}

TEST_CASE("the table tells device time from as called, and why a baseline is missing") {
  const std::string table = baseline_table(measured());
  CHECK(table.find("| eager+graph | device time | 18.00 us | 10.00 us | 1.80x [1.75, 1.85] |") !=
        std::string::npos);
  CHECK(table.find("| eager | as called | 60.00 us | 20.00 us | 3.00x [2.95, 3.05] |") !=
        std::string::npos);
  CHECK(table.find("Not measured against torch.compile+graph: it cannot be captured") !=
        std::string::npos);
  CHECK(baseline_table({}).empty());
  CHECK(bound_text(measured()) == "memory (91% of the bandwidth measured on this GPU)");
  CHECK(bound_text({}).empty());
  model::Verdict verdict = measured();
  CHECK(library_text(verdict).empty());
  verdict.library_share = 0.125;
  CHECK(library_text(verdict) == "Library calls take 12% of its device time.");
}

TEST_CASE("shapes name what goes in, and sum up what is many") {
  model::Task task;
  for (int i = 0; i < 7; ++i)
    task.buffers.push_back({.name = "p" + std::to_string(i), .shape = {2, 3}});
  task.buffers.front().torch_name = "layer.weight";
  task.buffers.push_back({.name = "out", .direction = model::Direction::Out, .shape = {}});
  CHECK(shapes_text(task) ==
        "layer.weight float32[2, 3], p1 float32[2, 3], p2 float32[2, 3], p3 float32[2, 3], "
        "p4 float32[2, 3] and 2 more -> float32[]");
}

TEST_CASE(
    "a move of a graph is read as what is fused, and its parameters as those that say something") {
  CHECK(move_text("template(pointwise, items=1, threads=64, width=4) fuse(relu,add)") ==
        "fuse(relu,add) as pointwise(threads=64, width=4)");
  CHECK(move_text("template(rows, gang=1, hold=0, vector=10)") == "rows(vector=10)");
  CHECK(move_text("template(rows, gang=1)") == "rows");
  CHECK(move_text("aten(conv, channels_last)") == "aten(conv, channels_last)");
  CHECK(moves_text({"block_size(x=1)", "template(scan) fuse(add)"}) ==
        "block_size(x=1), fuse(add) as scan");
}

TEST_CASE("a gain is explained by the times and by what bounds both sides") {
  model::Verdict verdict = measured();
  CHECK(times_text(verdict) == "18.0 us -> 10.0 us");
  CHECK(bound_change_text(verdict).empty()); // nothing is known of the side before
  verdict.reference_evidence = model::Evidence{.memory_share = 0.17, .bound = model::Bound::Memory};
  CHECK(bound_change_text(verdict) ==
        "Bound by memory: 17% -> 91% of the bandwidth measured on this GPU");
  verdict.reference_evidence->bound = model::Bound::Latency;
  CHECK(bound_change_text(verdict) ==
        "Bound by latency, now by memory: 17% -> 91% of the bandwidth measured on this GPU");
  verdict.candidate_evidence = model::Evidence{.compute_share = 0.5, .bound = model::Bound::Compute};
  CHECK(bound_change_text(verdict) == "Bound by latency, now by arithmetic");
  verdict.reference_evidence->compute_share = 0.25;
  CHECK(bound_change_text(verdict) ==
        "Bound by latency, now by arithmetic: 25% -> 50% of the rate measured on this GPU");
  verdict.candidate_time.reset();
  CHECK(times_text(verdict).empty());
}
