// Every task of the shipped suite works: at its small shape a CUDA task is inferred by `warpwright env` and its reference verified on the
// CPU backend, a torch task is traced and a plan of it verified. One CTest entry a part, so that none takes long. Skipped where Clang,
// the CPU worker or torch are missing.
#include "runner/connect/connect.h"
#include "support/model/json.h"
#include "support/process.h"
#include "support/rpc/frame_reader.h"
#include "trainer/environment/live.h"
#include "trainer/tasks/suite.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <iostream>

using namespace warpwright;
using namespace warpwright::trainer;
using nlohmann::json;

namespace {

/// Parts of the modules, chosen by the environment: "0/3".
struct Part {
  std::size_t index = 0, count = 1;
  static Part chosen() {
    Part part;
    if (const char *text = std::getenv("WARPWRIGHT_SUITE_PART"))
      std::sscanf(text, "%zu/%zu", &part.index, &part.count);
    return part;
  }
};

std::vector<TrainingTask> small_tasks(const std::string &language) {
  auto suite = load_suite(WARPWRIGHT_SOURCE_DIR "/trainer/tasks/suite");
  REQUIRE_MESSAGE(suite, (suite ? "" : describe(suite.error())));
  std::vector<TrainingTask> tasks;
  for (const SuiteTask &task : *suite)
    if (task.language == language)
      tasks.push_back(at_shape(task, small_shape(task.space), task.split));
  return tasks;
}

/// Answers of `warpwright env` to one request of this method a task, in order; null for what it refuses.
std::vector<json> ask(const std::string &method, const std::vector<TrainingTask> &tasks) {
  std::string input;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const json params{
        {"path", tasks[i].path}, {"text", tasks[i].text}, {"kernel", tasks[i].kernel}};
    const std::string body =
        json{{"jsonrpc", "2.0"}, {"id", i}, {"method", method}, {"params", params}}.dump();
    input += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  const auto run =
      run_captured({WARPWRIGHT_BINARY_DIR "/warpwright", "env"}, input, std::chrono::minutes(2));
  REQUIRE_MESSAGE(run, (run ? "" : describe(run.error())));
  rpc::FrameReader reader(64u << 20);
  reader.append(run->output);
  std::vector<json> answers(tasks.size());
  for (auto body = reader.next(); body && *body; body = reader.next()) {
    const json message = json::parse(**body);
    answers.at(message.at("id").get<std::size_t>()) = message.value("result", json());
  }
  return answers;
}

/// The inferred task of the kernel. Errors: what is missing.
Result<model::Task> task_of(const json &answer, const std::string &kernel) {
  for (const json &one : answer.value("kernels", json::array())) {
    if (one.at("name") != kernel)
      continue;
    return one.at("inferred").get<bool>() ? model::task_from_json(one.at("task"))
                                          : fail("asks for " + one.at("missing").dump());
  }
  return fail("no kernel " + kernel);
}

} // namespace

TEST_CASE("every kernel of the suite is inferred, and verified against itself on the CPU") {
  if (!std::filesystem::exists(WARPWRIGHT_BINARY_DIR "/warpwright") ||
      !std::filesystem::exists(WARPWRIGHT_BINARY_DIR "/warpwright-worker-cpu")) {
    std::cout << "all cases skipped: built without Clang\n";
    return;
  }
  const auto tasks = small_tasks("cuda");
  const auto answers = ask("tasks", tasks);
  auto client =
      runner::BlockingClient::connect("stdio:" WARPWRIGHT_BINARY_DIR "/warpwright-runner serve");
  REQUIRE_MESSAGE(client, (client ? "" : describe(client.error())));
  runner::VerifyOptions options{.device = "cpu"};
  options.seed = 1;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    INFO(tasks[i].id);
    auto task = task_of(answers[i], tasks[i].kernel);
    CHECK_MESSAGE(task, (task ? "" : describe(task.error())));
    if (!task)
      continue;
    const auto verdict = (*client)->verify(*task, task->reference, options, {});
    REQUIRE_MESSAGE(verdict, (verdict ? "" : describe(verdict.error())));
    CHECK_MESSAGE(verdict->outcome == model::Outcome::Verified, verdict->message);
    // Zeros, a constant, a copy of an input and the last result must fail on every task.
    CHECK_MESSAGE(verdict->message.find("degenerate") == std::string::npos, verdict->message);
    for (const model::Check &check : verdict->checks)
      CHECK_MESSAGE((check.name != "the task is not degenerate" || check.passed), check.detail);
  }
}

TEST_CASE("every kernel of the suite is inferred at the shapes that are drawn of it") {
  if (!std::filesystem::exists(WARPWRIGHT_BINARY_DIR "/warpwright")) {
    std::cout << "all cases skipped: built without Clang\n";
    return;
  }
  auto suite = load_suite(WARPWRIGHT_SOURCE_DIR "/trainer/tasks/suite");
  REQUIRE(suite);
  std::vector<TrainingTask> drawn;
  for (const SuiteTask &task : *suite)
    if (task.language == "cuda")
      for (const Split split : {Split::Training, Split::Validation, Split::HeldOut})
        std::ranges::move(draw_variations(task, split, 4, 1), std::back_inserter(drawn));
  const auto answers = ask("tasks", drawn);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const auto task = task_of(answers[i], drawn[i].kernel);
    CHECK_MESSAGE(task, drawn[i].id, " ", (task ? "" : describe(task.error())));
  }
}

TEST_CASE("every kernel of the suite has at least three legal moves to begin with") {
  if (!std::filesystem::exists(WARPWRIGHT_BINARY_DIR "/warpwright")) {
    std::cout << "all cases skipped: built without Clang\n";
    return;
  }
  const auto tasks = small_tasks("cuda");
  const auto answers = ask("moves", tasks);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    REQUIRE_MESSAGE(answers[i].is_object(), tasks[i].id);
    CHECK_MESSAGE(answers[i].at("moves").size() >= 3, tasks[i].id);
  }
}

TEST_CASE("every module of the suite is traced") {
  const char *python = std::getenv("WARPWRIGHT_PYTHON");
  if (!python) {
    std::cout << "all cases skipped: no Python with torch\n";
    return;
  }
  auto client =
      runner::BlockingClient::connect("stdio:" WARPWRIGHT_BINARY_DIR "/warpwright-runner serve");
  REQUIRE_MESSAGE(client, (client ? "" : describe(client.error())));
  const Part part = Part::chosen();
  const auto tasks = small_tasks("torch-python");
  for (std::size_t i = part.index; i < tasks.size(); i += part.count) {
    INFO(tasks[i].id);
    const auto traced = (*client)->trace({.source = tasks[i].text});
    REQUIRE_MESSAGE(traced, (traced ? "" : describe(traced.error())));
    CHECK(std::ranges::any_of(traced->buffers, [](const model::Buffer &buffer) {
      return buffer.direction != model::Direction::In;
    }));
  }
}

TEST_CASE("of every module of the suite a plan of ours is verified, as the trainer asks for it") {
  const char *python = std::getenv("WARPWRIGHT_PYTHON");
  if (!python || !std::filesystem::exists(WARPWRIGHT_BINARY_DIR "/warpwright") ||
      !std::filesystem::exists(WARPWRIGHT_BINARY_DIR "/warpwright-worker-cpu")) {
    std::cout << "all cases skipped: no Python with torch, or built without Clang\n";
    return;
  }
  EnvironmentConfig config;
  config.warpwright = WARPWRIGHT_BINARY_DIR "/warpwright";
  config.runner = "stdio:" WARPWRIGHT_BINARY_DIR "/warpwright-runner serve";
  config.device = "cpu";
  config.env_processes = 1;
  Exclusive<RecordBook> records;
  auto environment = LiveEnvironment::connect(config, records);
  REQUIRE_MESSAGE(environment, (environment ? "" : describe(environment.error())));
  auto client = runner::BlockingClient::connect(config.runner);
  REQUIRE_MESSAGE(client, (client ? "" : describe(client.error())));
  runner::VerifyOptions options{.device = "cpu"};
  options.seed = 1;
  const Part part = Part::chosen();
  const auto tasks = small_tasks("torch-python");
  for (std::size_t i = part.index; i < tasks.size(); i += part.count) {
    INFO(tasks[i].id);
    const auto view = (*environment)->open(tasks[i]);
    REQUIRE_MESSAGE(view, (view ? "" : describe(view.error())));
    CHECK(!view->graph.empty());
    // An older torch has no operator for attention; with its inputs scaled up, attention magnifies rounding beyond what a plan may add.
    model::Verdict ours;
    for (const Moves &moves :
         {Moves{"begin(with=ours)"}, Moves{"begin(with=attention-decomposed)"}, Moves{}}) {
      const auto plan = (*environment)->plan(tasks[i], moves);
      REQUIRE_MESSAGE(plan, (plan ? "" : describe(plan.error())));
      auto verdict = (*client)->verify(*model::task_from_json(view->definition),
                                       *model::plan_from_json(*plan), options, {});
      REQUIRE_MESSAGE(verdict, (verdict ? "" : describe(verdict.error())));
      ours = std::move(*verdict);
      if (ours.outcome == model::Outcome::Verified || tasks[i].family != "attention")
        break;
    }
    CHECK_MESSAGE(ours.outcome == model::Outcome::Verified, ours.message);
  }
}
