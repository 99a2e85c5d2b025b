#include "trainer/environment/module_states.h"

#include "support/model/graph_json.h"
#include "support/model/json.h"
#include "trainer/environment/environment.h"

#include <filesystem>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

/// Maximal number of kept traces; those of whole networks take a few hundred KB each.
constexpr std::size_t kMostTraces = 512;

/// The task that the runner measures, before `warpwright env` adds tolerance and work.
model::Task draft_of(const TrainingTask &task, std::vector<model::Buffer> buffers) {
  model::Task draft;
  draft.name = task.kernel;
  draft.file = std::filesystem::path(task.path).filename().string();
  draft.module = model::TorchModule{.source = task.text, .model = task.kernel};
  draft.reference.steps.push_back(model::ModuleStep{});
  draft.buffers = std::move(buffers);
  return draft;
}

} // namespace

ModuleStates::ModuleStates(EnvLine &env, Trace trace,
                           const std::optional<model::DeviceInfo> &device)
    : env_(env), trace_(std::move(trace)), device_(device ? model::to_json(*device) : Json()) {}

Result<Json> ModuleStates::call_of(const TrainingTask &task) {
  auto known = calls_.with([&](auto &calls) -> std::optional<Json> {
    const auto found = calls.find(task.id);
    return found == calls.end() ? std::nullopt : std::optional(found->second);
  });
  if (known)
    return std::move(*known);
  auto traced = TRY(trace_({.source = task.text, .model = task.kernel}));
  Json call{{"graph", model::to_json(traced.graph)},
            {"task", model::to_json(draft_of(task, std::move(traced.buffers)))}};
  if (!device_.is_null())
    call["device"] = device_;
  calls_.with([&](auto &calls) {
    if (calls.size() >= kMostTraces)
      calls.clear();
    calls[task.id] = call;
  });
  return call;
}

Result<ModuleStates::Opened> ModuleStates::open(const TrainingTask &task) {
  auto call = TRY(call_of(task));
  auto answer = TRY(env_.call("tasks", call));
  const Json &kernel = answer.at("kernels").at(0);
  return Opened{kernel.at("task"), kernel.at("graph")};
}

Result<StateRecord> ModuleStates::state(const TrainingTask &task, const Moves &moves) {
  auto call = TRY(call_of(task));
  call["moves"] = moves;
  auto answer = TRY(env_.call("moves", call));
  StateRecord state{moves, text_hash(answer.at("text").get<std::string>()), {}};
  for (const Json &move : answer.at("moves"))
    state.legal.push_back(move.at("move"));
  return state;
}

Result<Json> ModuleStates::plan(const TrainingTask &task, const Moves &moves) {
  auto call = TRY(call_of(task));
  call["moves"] = moves;
  return env_.call("plan", call);
}

} // namespace warpwright::trainer
