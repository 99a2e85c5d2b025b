// The methods of `warpwright env` on an op graph: a whole round from a trace to a plan, and what is refused.
#include "generator/ops/text.h"
#include "generator/search/graph_env.h"
#include "support/model/graph_json.h"
#include "support/model/json.h"
#include "tests/generator/plan_task.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::ops;
using namespace warpwright::search;
using rpc::Json;

namespace {

Json state() {
  const auto graph = parse_graph("%x: f32[64,96] = input\n"
                                 "%bias: f32[96] = parameter {torch_name=\"bias\"}\n"
                                 "%sum: f32[64,96] = add(%x, %bias)\n"
                                 "%y: f32[64,96] = softmax(%sum) {dim=1}\n"
                                 "return %y\n");
  REQUIRE(graph);
  return {{"graph", model::to_json(*graph)},
          {"task", model::to_json(task_of(*graph))},
          {"moves", Json::array()}};
}

Json call(const std::string &method, const Json &params) {
  auto outcome = answer_graph_env(method, params);
  REQUIRE_MESSAGE(outcome, (outcome ? "" : outcome.error().message));
  return *outcome;
}

Json after(std::initializer_list<const char *> moves) {
  Json params = state();
  params["moves"] = moves;
  return params;
}

} // namespace

TEST_CASE("env makes the task of a trace, and says the graph for prompts") {
  const Json kernel = call("tasks", state())["kernels"].at(0);
  CHECK(kernel["name"] == "Model");
  CHECK(kernel["inferred"] == true);
  const auto task = model::task_from_json(kernel["task"]);
  REQUIRE_MESSAGE(task, (task ? "" : describe(task.error())));
  CHECK(task->work.bytes);
  const std::string text = kernel["graph"];
  CHECK(text.starts_with("# region 0: 1 of %"));
  CHECK(text.find("%y: f32[64,96] = softmax(%sum) {dim=1}\n") != std::string::npos);
}

TEST_CASE("env goes from a graph to a plan of a state that moves lead to") {
  const Json moves = call("moves", state());
  bool offered = false;
  for (const Json &move : moves["moves"])
    offered |= move["move"] == "begin(with=ours)" && move["name"] == "begin" &&
               move["parameters"]["with"] == "ours";
  CHECK(offered);
  Json params = state();
  params["move"] = "begin(with=ours)";
  const Json next = call("apply", params);
  CHECK(next["moves"] == Json{"begin(with=ours)"});
  CHECK(next["text"] != moves["text"]);
  CHECK(next["text"] == call("moves", after({"begin(with=ours)"}))["text"]);
  CHECK(next["recipe"].contains("anchors"));
  const auto plan = model::plan_from_json(call("plan", after({"begin(with=ours)"})));
  REQUIRE(plan);
  CHECK(plan->steps.size() == 1);
}

TEST_CASE("Equal plans have one text, whatever moves led to them") {
  const Json ours = call("moves", after({"begin(with=ours)"}));
  const Json other = call("moves", after({"family(region=1,name=rows)"}));
  CHECK(ours["text"] == other["text"]);
}

TEST_CASE("What is no call on a graph is refused with a reason") {
  const auto refused = [](const std::string &method, const Json &params) {
    const auto outcome = answer_graph_env(method, params);
    REQUIRE_FALSE(outcome);
    CHECK_FALSE(outcome.error().message.empty());
    return outcome.error().code;
  };
  CHECK(refused("moves", after({"begin(with=nothing)"})) == rpc::kInvalidParams);
  CHECK(refused("dance", state()) == rpc::kMethodNotFound);
  Json params = state();
  params["task"]["buffers"].erase(0);
  CHECK(refused("moves", params) == rpc::kInvalidParams);
  params = state();
  params["task"].erase("module");
  params["task"]["reference"] = {{"source", ""}, {"steps", Json::array()}};
  CHECK(refused("tasks", params) == rpc::kInvalidParams);
  params = state();
  params["graph"]["nodes"] = 3;
  CHECK(refused("plan", params) == rpc::kInvalidParams);
}
