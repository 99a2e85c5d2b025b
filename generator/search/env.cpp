// The methods of `warpwright env` on CUDA files, and its server; see env.h.
#include "generator/search/env.h"

#include "analysis/guard/guard.h"
#include "generator/search/graph_env.h"
#include "generator/search/kernel_numbers.h"
#include "generator/text/moves/move_kind.h"
#include "generator/text/states/generator.h"
#include "generator/text/states/open_states.h"
#include "support/model/json.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <unistd.h>

namespace warpwright::search {
namespace {

using rpc::Json;

std::unexpected<rpc::RpcError> invalid(const std::string &message) {
  return std::unexpected(rpc::RpcError{rpc::kInvalidParams, message, nullptr});
}

Result<analysis::SourceFile> file_of(const Json &params) {
  analysis::SourceFile file;
  file.path = params.value("path", "unsaved.cu");
  if (params.contains("text")) {
    file.text = params.at("text").get<std::string>();
    return file;
  }
  std::ifstream input(file.path, std::ios::binary);
  if (!input)
    return fail("cannot read " + file.path, "Pass \"text\", or the path of a readable file");
  file.text.assign(std::istreambuf_iterator<char>(input), {});
  return file;
}

analysis::ParseSettings settings_of(const Json &params, const SettingsOf &project) {
  const std::string path = params.value("path", "");
  std::error_code missing;
  if (project && params.value("flags", Json::array()).empty() && !params.contains("directory") &&
      std::filesystem::is_regular_file(path, missing))
    return project(std::filesystem::absolute(path).string());
  analysis::ParseSettings settings;
  settings.flags = params.value("flags", std::vector<std::string>{});
  settings.directory = params.value("directory", settings.directory);
  return settings;
}

Result<source::State> state_of(const Json &params, const SettingsOf &project) {
  auto file = file_of(params);
  if (!file)
    return std::unexpected(file.error());
  source::State state{*file, settings_of(params, project), params.value("kernel", ""), {}};
  if (params.contains("task")) {
    const model::Task task = TRY(model::task_from_json(params.at("task")));
    state.arguments = states::argument_values(task);
    state.extents = states::launch_extents(task);
  }
  if (params.contains("device")) {
    const auto device = model::device_from_json(params.at("device"));
    if (!device)
      return std::unexpected(device.error());
    auto gpu = arch::gpu_of(*device);
    if (!gpu)
      return std::unexpected(gpu.error());
    state.gpu = std::move(*gpu);
  }
  if (state.kernel.empty())
    return fail("the state names no kernel", "Pass \"kernel\"");
  for (const std::string &text : params.value("moves", std::vector<std::string>{})) {
    auto move = source::move_from_string(text);
    if (!move)
      return std::unexpected(move.error());
    state.moves.push_back(*move);
  }
  return state;
}

rpc::Outcome answer_tasks(const Json &params, const SettingsOf &project) {
  auto file = file_of(params);
  if (!file)
    return invalid(describe(file.error()));
  const analysis::FileFacts facts = analysis::analyze_guarded(
      *file, settings_of(params, project), {.tasks = true, .rules = false}, analysis::kCommandLimits);
  if (const analysis::Diagnostic *reason = analysis::why_not_analysed(facts))
    return invalid(file->path + ": " + reason->message);
  Json kernels = Json::array();
  for (const analysis::Kernel &kernel : facts.kernels) {
    Json missing = Json::array();
    for (const analysis::MissingFact &fact : kernel.task.missing)
      missing.push_back({{"name", fact.name}, {"question", fact.question}});
    kernels.push_back({{"name", kernel.name},
                       {"line", kernel.line},
                       {"inferred", kernel.task.inferred},
                       {"task", kernel.task.inferred ? model::to_json(kernel.task.task) : Json()},
                       {"missing", missing},
                       {"assumptions", kernel.task.assumptions},
                       {"slice_error", kernel.slice_error}});
  }
  return Json{{"kernels", kernels}};
}

rpc::Outcome answer_moves(const source::State &state, states::OpenStates &open) {
  const auto legal = open.legal(state);
  if (!legal)
    return invalid(describe(legal.error()));
  Json moves = Json::array();
  for (const source::Move &move : *legal)
    moves.push_back({{"move", to_string(move)},
                     {"name", move.name},
                     {"parameters", move.parameters},
                     {"is_template", moves::find_move_kind(move.name)->is_template}});
  return Json{{"moves", moves}};
}

rpc::Outcome answer_apply(const source::State &state, const Json &params,
                          states::OpenStates &open) {
  auto move = source::move_from_string(params.value("move", ""));
  auto next =
      move ? open.apply(state, *move) : Result<source::State>(std::unexpected(move.error()));
  if (!next)
    return invalid(describe(next.error()));
  return Json{{"text", next->file.text}, {"moves", to_strings(next->moves)}};
}

rpc::Outcome answer_plan(const source::State &state, const Json &params) {
  auto task = model::task_from_json(params.value("task", Json()));
  auto plan =
      task ? states::render_plan(state, *task) : Result<model::Plan>(std::unexpected(task.error()));
  return plan ? rpc::Outcome(model::to_json(*plan)) : invalid(describe(plan.error()));
}

rpc::Outcome answer_facts(const Json &params) {
  const auto task = model::task_from_json(params.value("task", Json()));
  const auto numbers =
      task ? kernel_numbers(*task) : Result<KernelNumbers>(std::unexpected(task.error()));
  return numbers ? rpc::Outcome(Json{{"kernel", *numbers}}) : invalid(describe(numbers.error()));
}

rpc::Outcome answer_kinds() {
  Json kinds = Json::array();
  for (const moves::MoveKind &kind : moves::move_registry())
    kinds.push_back({{"name", kind.name}, {"is_template", kind.is_template}});
  return Json{{"kinds", kinds}};
}

rpc::Outcome dispatch(const std::string &method, const Json &params, states::OpenStates &open,
                      const SettingsOf &project) {
  constexpr std::array kMethods{"tasks", "moves", "apply", "plan", "facts", "kinds"};
  if (std::ranges::find(kMethods, method) == kMethods.end())
    return std::unexpected(rpc::RpcError{
        rpc::kMethodNotFound,
        "no method " + method + "; there are tasks, moves, apply, plan, facts and kinds", nullptr});
  if (params.contains("graph"))
    return answer_graph_env(method, params);
  if (method == "tasks")
    return answer_tasks(params, project);
  if (method == "facts")
    return answer_facts(params);
  if (method == "kinds")
    return answer_kinds();
  auto state = state_of(params, project);
  if (!state)
    return invalid(describe(state.error()));
  if (method == "moves")
    return answer_moves(*state, open);
  return method == "apply" ? answer_apply(*state, params, open) : answer_plan(*state, params);
}

} // namespace

rpc::Outcome answer_env(const std::string &method, const Json &params) {
  states::OpenStates open;
  return answer_env(method, params, open);
}

rpc::Outcome answer_env(const std::string &method, const Json &params, states::OpenStates &open,
                        const SettingsOf &project) {
  if (!params.is_object())
    return invalid("the parameters of " + method + " are no object");
  try {
    return dispatch(method, params, open, project);
  } catch (const nlohmann::json::exception &error) {
    return invalid("the parameters of " + method + " have a wrong type: " + error.what());
  }
}

int run_env(const SettingsOf &project) {
  boost::asio::io_context context(1);
  std::string reason;
  states::OpenStates open;
  rpc::Connection::Handlers handlers;
  handlers.on_request = [&](const std::string &method, Json params, const Json &,
                            rpc::Responder respond) { respond(answer_env(method, params, open, project)); };
  handlers.on_closed = [&](std::string why) { reason = std::move(why); };
  auto connection = rpc::Connection::make(
      rpc::make_descriptor_stream(context.get_executor(), STDIN_FILENO, STDOUT_FILENO), handlers);
  connection->start();
  context.run();
  if (!reason.empty())
    std::cerr << "warpwright env: " << reason << "\n";
  return reason.empty() ? 0 : 1;
}

} // namespace warpwright::search
