// Plans of op graphs on the CPU device, compared with the reference interpreter: the property tests of families and of fusion.
//
// `check_graph(graph)` plans a graph with every configuration of every family that claims an anchor, one region varied at a time, runs each
// plan on drawn inputs, and compares outputs and updated state with interpret(). Each plan is also compiled by NVRTC for sm_90a where
// that is found. ATen steps have no torch here: their results come from the interpreter. Thread: one, and one device a process.
#pragma once

#include "generator/planning/plan_builder.h"
#include "tests/generator/graph_interpreter.h"

namespace warpwright::test {

struct HarnessOptions {
  std::uint64_t seed = 1;
  /// Of relative_difference(); 0: by the dtype of each result (float32 3e-5, float64 1e-10, float16 2e-3, bfloat16 2e-2, integers 0).
  double tolerance = 0;
  bool compile_for_gpu = true;
  /// Of one region and family; the first ones.
  std::size_t max_configurations = 64;
  /// False on the CPU backend, which has no PTX; configurations that need it then compile only, as true says when planned for NVRTC.
  elements::DeviceFacts facts{arch::gpu_named("cpu").value()};
  /// Only this family counts: anchors that it claims must be lowered by it. Empty: any.
  std::string family;
  /// Values instead of draw_leaves().
  Arrays leaves;
};

/// What a plan leaves in its outputs, in order, and in state that it updates, by parameter.
struct PlanResults {
  std::vector<Array> outputs;
  Arrays updates;
};

/// Errors: what the device says, or a plan whose ATen steps the interpreter cannot stand in for.
Result<PlanResults> run_plan(const planning::BuiltPlan &built, const model::Graph &graph,
                             const Arrays &leaves);

/// Everything that differs or fails, with the plan's choices; empty when all is well.
std::string check_plan_results(const planning::BuiltPlan &built, const model::Graph &graph,
                               const HarnessOptions &options = {});

/// As the file says. @return empty when all is well; else the first failure, with the choices and the source of the plan
std::string check_graph(const model::Graph &graph, const HarnessOptions &options = {});
/// Of a graph in the text form of docs/internals/op-graph.md.
std::string check_graph(const std::string &text, const HarnessOptions &options = {});

} // namespace warpwright::test
