// Live environment: every answer is first looked up in the records.
#include "trainer/environment/live.h"

#include "support/hash.h"
#include "support/model/json.h"

#include <chrono>
#include <filesystem>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kHashDigits = 16;
constexpr std::chrono::seconds kCandidateTimeout{60};
constexpr std::size_t kMaxTexts = 20'000; ///< kept at once; a few KB each

bool is_module(const TrainingTask &task) { return task.language == kTorchLanguage; }

std::string key_of(const TrainingTask &task, const Moves &moves) {
  std::string key = task.id;
  for (const std::string &move : moves)
    key += "\n" + move;
  return key;
}

} // namespace

std::string text_hash(const std::string &text) { return sha256_hex(text).substr(0, kHashDigits); }

Result<std::unique_ptr<LiveEnvironment>> LiveEnvironment::connect(const EnvironmentConfig &config,
                                                                  Exclusive<RecordBook> &records) {
  std::unique_ptr<LiveEnvironment> environment(new LiveEnvironment(config, records));
  environment->env_ = TRY(EnvPool::start(config.warpwright, config.env_processes));
  environment->runner_ = TRY(runner::BlockingClient::connect(config.runner));
  TRY(environment->choose_device());
  environment->modules_ = std::make_unique<ModuleStates>(
      *environment->env_,
      [client = environment->runner_.get()](const model::TorchModule &module) {
        return client->trace(module);
      },
      environment->device_);
  return environment;
}

Result<std::unique_ptr<LiveEnvironment>>
LiveEnvironment::without_runner(const EnvironmentConfig &config, Exclusive<RecordBook> &records,
                                std::optional<model::DeviceInfo> device) {
  auto env = TRY(EnvPool::start(config.warpwright, config.env_processes));
  std::unique_ptr<LiveEnvironment> environment(new LiveEnvironment(config, records));
  environment->env_ = std::move(env);
  environment->device_ = std::move(device);
  environment->modules_ = std::make_unique<ModuleStates>(
      *environment->env_,
      [](const model::TorchModule &) -> Result<runner::TracedModule> {
        return fail("a torch module is traced by a runner, and there is none");
      },
      environment->device_);
  return environment;
}

Result<void> LiveEnvironment::choose_device() {
  auto info = TRY(runner_->info());
  const std::string kind = config_.device.substr(0, config_.device.find(':'));
  for (const model::DeviceInfo &device : info.devices)
    if (!device_ && (kind.empty() || device.kind == kind ||
                     device.name.find(config_.device) != std::string::npos))
      device_ = device;
  if (!device_)
    return fail("the runner has no device " + config_.device,
                info.notes.empty() ? "Run warpwright-runner doctor" : info.notes.front());
  device_->host.clear(); // records are shared, so they identify no machine
  device_->identifier.clear();
  return records_.with([&](RecordBook &book) { return book.add_device(*device_); });
}

Result<TaskView> LiveEnvironment::open(const TrainingTask &task) {
  Json definition;
  std::string graph;
  records_.with([&](RecordBook &book) {
    if (const TaskRecord *known = book.find(task.id)) {
      definition = known->definition;
      graph = known->graph;
    }
  });
  if (definition.is_null() && is_module(task)) {
    auto opened = TRY(modules_->open(task));
    definition = std::move(opened.definition);
    graph = std::move(opened.graph);
  } else if (definition.is_null()) {
    auto answer =
        TRY(env_->call("tasks", {{"path", task.path}, {"text", task.text}, {"flags", task.flags}}));
    for (const Json &kernel : answer.at("kernels")) {
      if (kernel.at("name") != task.kernel)
        continue;
      if (!kernel.at("inferred"))
        return fail("no task can be inferred of " + task.id + ": " + kernel.at("missing").dump(),
                    "Answer it in a comment above the kernel");
      definition = kernel.at("task");
      definition["file"] = std::filesystem::path(task.path).filename().string();
    }
  }
  if (definition.is_null())
    return fail("no kernel " + task.kernel + " in " + task.path);
  auto decoded = TRY(model::task_from_json(definition));
  const std::string hash = model::hash(decoded);
  auto added =
      records_.with([&](RecordBook &book) { return book.add_task(task, definition, hash, graph); });
  if (!added)
    return std::unexpected(added.error());
  TaskView view{task.id, task.family, definition, std::nullopt, graph};
  view.original = records_.with([&](RecordBook &book) -> std::optional<Measured> {
    const StateRecord *unchanged = book.find_state(task.id, {});
    const Measured *known = unchanged ? book.find_verdict(task.id, unchanged->text_hash,
                                                          device_ ? device_key(*device_) : "")
                                      : nullptr;
    return known ? std::optional(*known) : std::nullopt;
  });
  return view;
}

Json LiveEnvironment::env_state(const TrainingTask &task, const Moves &moves,
                                const std::string &text) {
  Json state = {{"path", task.path},
                {"text", text},
                {"kernel", task.kernel},
                {"flags", task.flags},
                {"moves", moves}};
  records_.with([&](RecordBook &book) {
    if (const TaskRecord *known = book.find(task.id))
      state["task"] = known->definition;
  });
  return state;
}

Result<std::string> LiveEnvironment::text_of(const TrainingTask &task, const Moves &moves) {
  if (moves.empty())
    return task.text;
  const std::string key = key_of(task, moves);
  if (auto known = texts_.with([&](auto &texts) -> std::optional<std::string> {
        const auto found = texts.find(key);
        return found == texts.end() ? std::nullopt : std::optional(found->second);
      }))
    return *known;
  const Moves before(moves.begin(), moves.end() - 1);
  auto base = text_of(task, before);
  if (!base)
    return base;
  Json params = env_state(task, before, *base);
  params["move"] = moves.back();
  auto answer = TRY(env_->call("apply", params));
  std::string text = answer.at("text");
  texts_.with([&](auto &texts) {
    if (texts.size() >= kMaxTexts)
      texts.clear();
    texts[key] = text;
  });
  return text;
}

Result<StateRecord> LiveEnvironment::state(const TrainingTask &task, const Moves &moves) {
  auto known = records_.with([&](RecordBook &book) -> std::optional<StateRecord> {
    const StateRecord *found = book.find_state(task.id, moves);
    return found ? std::optional(*found) : std::nullopt;
  });
  if (known)
    return *known;
  auto state = is_module(task) ? modules_->state(task, moves) : source_state(task, moves);
  if (!state)
    return state;
  auto added = records_.with([&](RecordBook &book) { return book.add_state(task.id, *state); });
  if (!added)
    return std::unexpected(added.error());
  return state;
}

Result<StateRecord> LiveEnvironment::source_state(const TrainingTask &task, const Moves &moves) {
  auto text = TRY(text_of(task, moves));
  auto answer = TRY(env_->call("moves", env_state(task, moves, text)));
  StateRecord state{moves, text_hash(text), {}};
  for (const Json &move : answer.at("moves"))
    state.legal.push_back(move.at("move"));
  return state;
}

Result<model::Task> LiveEnvironment::definition_of(const TrainingTask &task) {
  auto view = open(task);
  return view ? model::task_from_json(view->definition)
              : Result<model::Task>(std::unexpected(view.error()));
}

Result<Measured> LiveEnvironment::measure(const TrainingTask &task, const Moves &moves,
                                          std::stop_token stop) {
  if (!runner_)
    return fail("this environment does not measure", "Ask a runner");
  auto at = TRY(state(task, moves));
  auto known = records_.with([&](RecordBook &book) -> std::optional<Measured> {
    const Measured *found = book.find_verdict(task.id, at.text_hash, device_key(*device_));
    return found ? std::optional(*found) : std::nullopt;
  });
  if (known)
    return *known;
  return ask_runner(task, at, std::nullopt, stop);
}

Result<Measured> LiveEnvironment::confirm(const TrainingTask &task, const Moves &moves,
                                          std::stop_token stop) {
  auto before = measure(task, moves, stop);
  if (!before || before->confirmed || !before->speedup)
    return before;
  // A version of this task with a similar speedup was confirmed, so cheating would gain this one little.
  if (const auto confirmed = confirmed_speedup(task);
      confirmed && before->speedup->ratio <= model::kAsConfirmed * *confirmed)
    return before;
  auto at = TRY(state(task, moves));
  // The runner repeats the measurement in a fresh worker; it does so for over twice the known speedup.
  return ask_runner(task, at, before->speedup->ratio / 4, stop);
}

std::optional<double> LiveEnvironment::confirmed_speedup(const TrainingTask &task) {
  return records_.with([&](RecordBook &book) {
    return book.confirmed_speedup(task.id, device_ ? device_key(*device_) : "");
  });
}

Result<Json> LiveEnvironment::plan(const TrainingTask &task, const Moves &moves) {
  if (is_module(task))
    return modules_->plan(task, moves);
  TRY(open(task)); // env_state() then has the task
  const std::string text = TRY(text_of(task, moves));
  return env_->call("plan", env_state(task, moves, text));
}

Result<Measured> LiveEnvironment::ask_runner(const TrainingTask &task, const StateRecord &state,
                                             std::optional<double> best_known,
                                             std::stop_token stop) {
  if (!runner_)
    return fail("this environment does not measure", "Ask a runner");
  auto definition = TRY(definition_of(task));
  auto rendered = plan(task, state.moves);
  Measured measured;
  if (!rendered && rendered.error().message.starts_with(kEnvLost))
    return std::unexpected(rendered.error()); // a lost line says nothing about the candidate
  if (!rendered) { // legal moves without a valid result: the candidate fails
    measured.outcome = model::Outcome::CompileFailed;
    measured.message = rendered.error().message;
    measured.device = device_key(*device_);
  } else {
    auto plan = TRY(model::plan_from_json(*rendered));
    runner::VerifyOptions options = options_for(kCandidateTimeout);
    options.best_known_speedup = best_known;
    if (!best_known) // a fresh worker takes longer than a verdict
      options.confirmed_speedup = confirmed_speedup(task);
    // A fresh worker of a module starts a new Python, so only confirmations wait for it.
    options.confirm_large = !is_module(task) || best_known;
    const auto started = Clock::now();
    auto verdict = TRY(runner_->verify(definition, plan, options, stop));
    measured = cut_down(verdict, std::chrono::duration<double>(Clock::now() - started).count());
  }
  auto added = records_.with(
      [&](RecordBook &book) { return book.add_verdict(task.id, state.text_hash, measured); });
  if (!added)
    return std::unexpected(added.error());
  return measured;
}

Result<Measured> LiveEnvironment::measure_plan(const TrainingTask &task, const model::Plan &plan,
                                               std::stop_token stop) {
  const auto started = Clock::now();
  auto verdict = TRY(verify(task, plan, false, stop));
  return cut_down(verdict, std::chrono::duration<double>(Clock::now() - started).count());
}

Result<model::Verdict> LiveEnvironment::verify(const TrainingTask &task, const model::Plan &plan,
                                               bool host_code, std::stop_token stop) {
  if (!runner_)
    return fail("this environment does not measure", "Ask a runner");
  auto definition = TRY(definition_of(task));
  TRY(model::check_plan(plan, definition));
  runner::VerifyOptions options = options_for(kCandidateTimeout);
  options.host_code = host_code;
  return runner_->verify(definition, plan, options, stop);
}

Result<Measured> LiveEnvironment::judge(const model::Task &task, const model::Plan &plan,
                                        std::chrono::milliseconds timeout) {
  if (!runner_)
    return fail("this environment does not measure", "Ask a runner");
  const auto started = Clock::now();
  auto verdict = TRY(runner_->verify(task, plan, options_for(timeout), {}));
  return cut_down(verdict, std::chrono::duration<double>(Clock::now() - started).count());
}

runner::VerifyOptions LiveEnvironment::options_for(std::chrono::milliseconds timeout) const {
  runner::VerifyOptions options;
  options.device = config_.device;
  options.timeout = timeout;
  options.measure_budget = std::chrono::milliseconds(config_.measure_budget_ms);
  return options;
}

} // namespace warpwright::trainer
