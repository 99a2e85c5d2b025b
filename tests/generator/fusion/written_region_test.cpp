// Kernels of another author in place of a region's: they run over the region's memory, and nothing
// else of the plan changes.
#include "generator/ops/text.h"
#include "generator/search/plan_text.h"
#include "support/model/json.h"
#include "tests/generator/devices.h"
#include "tests/generator/graph_builder.h"
#include "tests/generator/plan_harness.h"
#include "tests/generator/plan_task.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::planning;
using model::Shape;

namespace {

constexpr const char *kSoftmax = R"cu(#include <cuda_fp16.h>
#define WIDTH 12
__device__ float scaled(float value) { return value; }
extern "C" __global__ void mine(const float *in0, float *out0, float *sums) {
  const int row = blockIdx.x * 8 + threadIdx.x;
  float most = in0[row * WIDTH];
  for (int i = 1; i < WIDTH; ++i)
    most = fmaxf(most, in0[row * WIDTH + i]);
  sums[row] = 0;
  for (int i = 0; i < WIDTH; ++i)
    sums[row] += scaled(expf(in0[row * WIDTH + i] - most));
  for (int i = 0; i < WIDTH; ++i)
    out0[row * WIDTH + i] = expf(in0[row * WIDTH + i] - most) / sums[row];
}
)cu";

/// kSoftmax for 16 rows of 12.
model::Plan softmax_kernels() {
  model::Plan plan{.source = kSoftmax};
  plan.temporaries = {{"sums", model::Dtype::Float32, 16}};
  model::LaunchStep launch{.kernel = "mine"};
  launch.grid = {2, 1, 1};
  launch.block = {8, 1, 1};
  launch.arguments = {model::BufferArgument{"in0", {}}, model::BufferArgument{"out0", {}},
                      model::BufferArgument{"sums", {}}};
  plan.steps = {launch};
  return plan;
}

/// Two softmaxes, each behind a product.
model::Graph two_softmaxes() {
  GraphBuilder g;
  std::string x = g.input("x", {16, 12});
  for (const char *weights : {"w1", "w2"})
    x = g.op("softmax", {g.op("matmul", {x, g.parameter(weights, {12, 12})})},
             {{"dim", std::int64_t{1}}});
  return g.graph({x});
}

BuiltPlan built(const model::Graph &graph, const PlanChoices &choices,
                const elements::DeviceFacts &facts = {arch::gpu_named("cpu").value()}) {
  auto plan = build_plan(graph, plan_buffers(graph), facts, choices);
  REQUIRE_MESSAGE(plan, (plan ? "" : describe(plan.error())));
  return std::move(*plan);
}

const BuiltRegion *region_with(const BuiltPlan &plan, const std::string &op,
                               std::size_t which = 0) {
  const ops::GraphIndex graph(plan.graph);
  for (const BuiltRegion &region : plan.regions)
    if (!region.planned.region.anchor.empty() &&
        graph.node(region.planned.region.anchor).op == op && which-- == 0)
      return &region;
  return nullptr;
}

/// The choices of a plan, with written kernels for all its softmaxes.
PlanChoices with_own_softmax(const BuiltPlan &plan) {
  PlanChoices choices = plan.applied;
  const ops::GraphIndex graph(plan.graph);
  for (std::size_t i = 0; const BuiltRegion *region = region_with(plan, "softmax", i); ++i) {
    CHECK(model::check_plan(softmax_kernels(), region_task(graph, region->planned.region)));
    choices.written[region_key(region->planned.region)] = {region_signature(graph, region->planned.region), softmax_kernels()};
  }
  return choices;
}

std::size_t count(const std::string &text, const std::string &part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

bool has(const std::string &text, const std::string &part) { return count(text, part) > 0; }

} // namespace

TEST_CASE("written kernels take the places of two alike regions, once in the source, and compute "
          "the same") {
  const model::Graph graph = two_softmaxes();
  PlanChoices apart;
  for (const model::Node &node : graph.nodes)
    if (node.op == "softmax" || node.op == "matmul")
      apart.anchors[node.name].fuse = false;
  const BuiltPlan before = built(graph, apart);
  const BuiltPlan after = built(graph, with_own_softmax(before));
  CHECK(after.notes.empty());
  CHECK(after.applied.written.size() == 2);
  CHECK(count(after.plan.source, "void mine(") == 1);
  CHECK(has(after.plan.source,
            "namespace written_0 {\n#line 1 \"written_0.cu\"\n\n#define WIDTH 12"));
  CHECK(after.plan.source.find("#include <cuda_fp16.h>") <
        after.plan.source.find("namespace written_0"));
  CHECK_FALSE(has(after.plan.source, "extern \"C\" __global__ void mine"));
  CHECK(std::ranges::count(after.plan.moves, std::string("written(softmax)")) == 2);
  CHECK(check_plan_results(after, graph) == "");
  CHECK(model::check_plan(after.plan, task_of(graph)));
}

TEST_CASE("a launch of a written kernel begins after the launch before it ended, as the kernel may "
          "not wait") {
  const model::Graph graph = two_softmaxes();
  const BuiltPlan before = built(graph, {}, h200());
  const BuiltPlan after = built(graph, with_own_softmax(before), h200());
  REQUIRE(has(after.plan.source, "namespace written_0"));
  for (const model::Step &step : after.plan.steps)
    if (const auto *launch = std::get_if<model::LaunchStep>(&step);
        launch && launch->kernel == "written_0::mine")
      CHECK_FALSE(launch->overlapped);
  CHECK_FALSE(has(after.plan.source.substr(after.plan.source.find("namespace written_0")),
                  "griddepcontrol"));
}

TEST_CASE("kernels for another region are left out, with a note") {
  const model::Graph graph = two_softmaxes();
  const BuiltPlan before = built(graph, {});
  PlanChoices choices = with_own_softmax(before);
  for (auto &[key, written] : choices.written)
    written.signature += "v9 = neg(in0)\n";
  const BuiltPlan after = built(graph, choices);
  CHECK(after.applied.written.empty());
  CHECK(after.notes.size() == 2);
  CHECK(after.plan.steps == before.plan.steps);
}

TEST_CASE("kernels that name other buffers than their region's do not fit it") {
  const BuiltPlan plan = built(two_softmaxes(), {});
  const ops::GraphIndex graph(plan.graph);
  const model::Task task = region_task(graph, region_with(plan, "softmax")->planned.region);
  model::Plan kernels = softmax_kernels();
  std::get<model::LaunchStep>(kernels.steps[0]).arguments[0] = model::BufferArgument{"x", {}};
  CHECK_FALSE(model::check_plan(kernels, task));
  kernels.steps[0] = model::ModuleStep{.source = "import os"};
  CHECK_FALSE(model::check_plan(kernels, task));
}

TEST_CASE(
    "a region that updates state in place gets memory of its own when its kernels are written") {
  const auto graph = ops::parse_graph("%x: f32[64] = input\n"
                                      "%state: f32[64] = parameter {torch_name=\"state\"}\n"
                                      "%sum: f32[64] = add(%x, %state)\n"
                                      "%y: f32[64] = neg(%sum)\n"
                                      "update %state = %sum\n"
                                      "return %y\n");
  REQUIRE_MESSAGE(graph, (graph ? "" : describe(graph.error())));
  const BuiltPlan before = built(*graph, {});
  const elements::Region &region = before.regions.front().planned.region;
  const ops::GraphIndex index(before.graph);
  REQUIRE(region.outputs.size() == 2);
  // The last element's state is read after the first one's was written.
  model::Plan kernels{
      .source = "__global__ void both(const float *x, const float *state, float *a, float *b) {\n"
                "  for (int i = 0; i < 64; ++i) {\n"
                "    a[i] = b[i] = 0;\n"
                "  }\n"
                "  for (int i = 0; i < 64; ++i) {\n"
                "    a[i] = x[i] + state[i];\n"
                "    b[i] = -(x[i] + state[i]);\n"
                "  }\n"
                "}\n"};
  const bool sum_first = region.outputs[0] == "sum", x_first = region.inputs[0] == "x";
  model::LaunchStep launch{.kernel = "both"};
  for (const char *name : {x_first ? "in0" : "in1", x_first ? "in1" : "in0",
                           sum_first ? "out0" : "out1", sum_first ? "out1" : "out0"})
    launch.arguments.push_back(model::BufferArgument{name, {}});
  kernels.steps = {launch};
  PlanChoices choices = before.applied;
  choices.written[region_key(region)] = {region_signature(index, region), kernels};
  const BuiltPlan after = built(*graph, choices);
  CHECK(after.applied.written.size() == 1);
  CHECK(check_plan_results(after, *graph) == "");
}

TEST_CASE("the text of a plan tells an author of kernels all about its regions, and a walk goes on "
          "from it") {
  const model::Graph graph = two_softmaxes();
  const BuiltPlan plan = built(graph, {}, h200());
  const std::string key = region_key(region_with(plan, "softmax")->planned.region);
  const std::string text = search::plan_text(plan, {{key, 12e-6}}, h200().rates.node);
  CHECK_MESSAGE(has(text, "region " + key + ", number "), text);
  CHECK(has(text, "; 2 are alike; at least "));
  CHECK(has(text, ", measured 12.00 us, which is "));
  CHECK(has(text, "in0: const float *, shape 16x12, contiguous\n"));
  CHECK(has(text, "out0: float *, shape 16x12, contiguous\n"));
  CHECK(has(text, "out0 = %" + key));
  CHECK(has(text, " = softmax("));

  search::GraphState state{.graph = graph, .rewrites = {}, .choices = with_own_softmax(plan)};
  auto walk = search::PlanWalk::from(state, task_of(graph), graph, h200());
  REQUIRE_MESSAGE(walk, (walk ? "" : describe(walk.error())));
  CHECK(has(search::plan_text(*walk->built(), {}, h200().rates.node), "its kernels, {"));
  const auto moves = walk->legal();
  const auto family =
      std::ranges::find_if(moves, [](const std::string &move) { return has(move, "name=aten"); });
  REQUIRE(family != moves.end());
  CHECK(walk->make(*family));
  CHECK(walk->built());
}
