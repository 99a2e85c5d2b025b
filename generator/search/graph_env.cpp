// The methods of `warpwright env` on torch modules; see graph_env.h.
#include "generator/search/graph_env.h"

#include "generator/ops/text.h"
#include "generator/planning/module_task.h"
#include "generator/search/plan_text.h"
#include "support/hash.h"
#include "support/model/graph_json.h"
#include "support/model/json.h"

namespace warpwright::search {
namespace {

using rpc::Json;

rpc::Outcome refused(const Error &error) {
  return std::unexpected(rpc::RpcError{rpc::kInvalidParams, describe(error), nullptr});
}

std::string text_for_prompts(const model::Graph &graph, const planning::BuiltPlan &built,
                             const arch::NodeRates &rates) {
  std::string text;
  const std::vector<RegionGroup> groups = region_groups(built, rates);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const elements::Region &region = groups[i].regions.front()->planned.region;
    text += "# region " + std::to_string(i) + ": " + std::to_string(groups[i].regions.size()) +
            " of %" + planning::region_key(region) + "\n";
  }
  return text + ops::print_graph(with_short_attributes(graph));
}

/// The parameters of a call.
struct Call {
  model::Graph graph;
  model::Task task;
  elements::DeviceFacts facts;
};

Result<Call> call_of(const Json &params) {
  auto graph = model::graph_from_json(params.at("graph"));
  auto task = model::task_from_json(params.value("task", Json()));
  if (!graph || !task)
    return std::unexpected(graph ? task.error() : graph.error());
  Call call{std::move(*graph), std::move(*task), {arch::gpu_named("h200").value()}};
  if (params.contains("device")) {
    auto device = model::device_from_json(params.at("device"));
    if (!device)
      return std::unexpected(device.error());
    auto facts = planning::facts_of(*device);
    if (!facts)
      return std::unexpected(facts.error());
    call.facts = std::move(*facts);
  }
  return call;
}

Result<PlanWalk> walk_of(const Call &call, const Json &params) {
  auto walk = PlanWalk::begin(call.task, call.graph, call.facts);
  for (const std::string &move : params.value("moves", std::vector<std::string>{}))
    if (walk)
      if (auto made = walk->make(move); !made)
        return std::unexpected(made.error());
  return walk;
}

/// A text that is equal for equal plans; for a state without a plan, "no plan: " and a hash of its moves.
std::string text_of(const PlanWalk &walk) {
  return walk.built() ? model::hash(walk.built()->plan)
                      : "no plan: " + sha256_hex(Json(walk.moves()).dump());
}

rpc::Outcome answer_tasks(const Call &call) {
  if (!call.task.module)
    return refused({"the task names no torch module", "Pass \"task\" with its \"module\""});
  auto task = planning::module_task(call.task.name, call.task.file, *call.task.module, call.graph,
                                    call.task.buffers);
  auto walk = task ? PlanWalk::begin(*task, call.graph, call.facts)
                   : Result<PlanWalk>(std::unexpected(task.error()));
  if (!walk)
    return refused(walk.error());
  return Json{{"kernels",
               {{{"name", call.task.module->model},
                 {"inferred", true},
                 {"task", model::to_json(*task)},
                 {"missing", Json::array()},
                 {"assumptions", Json::array()},
                 {"graph", text_for_prompts(call.graph, *walk->built(), call.facts.rates.node)}}}}};
}

/// JSON description of a move such as "family(region=0,name=rows)": its text, its name, and its parameters by name.
Json described(const std::string &move) {
  const std::size_t open = move.find('(');
  Json parameters = Json::object();
  for (std::size_t at = open + 1; at + 1 < move.size();) {
    const std::size_t end = std::min(move.find(',', at), move.size() - 1);
    const std::size_t equals = move.find('=', at);
    parameters[move.substr(at, equals - at)] = move.substr(equals + 1, end - equals - 1);
    at = end + 1;
  }
  return {{"move", move},
          {"name", move.substr(0, open)},
          {"parameters", parameters},
          {"is_template", false}};
}

rpc::Outcome answer_moves(const PlanWalk &walk) {
  Json moves = Json::array();
  for (const std::string &move : walk.legal())
    moves.push_back(described(move));
  return Json{{"moves", std::move(moves)}, {"text", text_of(walk)}};
}

rpc::Outcome answer_apply(PlanWalk walk, const Json &params) {
  if (auto made = walk.make(params.value("move", "")); !made)
    return refused(made.error());
  return Json{{"text", text_of(walk)}, {"moves", walk.moves()}, {"recipe", to_json(walk.recipe())}};
}

rpc::Outcome answer_plan(const PlanWalk &walk, const model::Task &task) {
  if (!walk.built())
    return refused(walk.built().error());
  const model::Plan &plan = walk.built()->plan;
  if (auto checked = model::check_plan(plan, task); !checked)
    return refused(checked.error());
  return model::to_json(plan);
}

} // namespace

rpc::Outcome answer_graph_env(const std::string &method, const Json &params) {
  if (method != "tasks" && method != "moves" && method != "apply" && method != "plan")
    return std::unexpected(
        rpc::RpcError{rpc::kMethodNotFound,
                      "no method " + method + "; there are tasks, moves, apply and plan", nullptr});
  const auto call = call_of(params);
  if (!call)
    return refused(call.error());
  if (method == "tasks")
    return answer_tasks(*call);
  auto walk = walk_of(*call, params);
  if (!walk)
    return refused(walk.error());
  if (method == "moves")
    return answer_moves(*walk);
  return method == "apply" ? answer_apply(std::move(*walk), params)
                           : answer_plan(*walk, call->task);
}

} // namespace warpwright::search
