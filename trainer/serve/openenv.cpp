#include "trainer/serve/openenv.h"
#include "support/version.h"

#include "trainer/serve/message.h"
#include "trainer/serve/observation.h"
#include "trainer/serve/openenv_session.h"
#include "trainer/tasks/split_names.h"

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

constexpr const char *kName = "warpwright";
constexpr const char *kDescription =
    "Write CUDA device code, or choose edits, for a kernel or a PyTorch module; a runner verifies the answer and measures "
    "it against the reference. A step may wait for its turn at the GPU: give clients a message timeout of 600 s.";

Json metadata() {
  return {{"name", kName},
          {"description", kDescription},
          {"version", version()}};
}

/// As much of an OpenAPI document as OpenEnv's validator reads, with the schemas.
Json open_api() {
  const Json schemas = environment_schemas();
  const auto path = [](const char *method, const char *summary) {
    return Json{{method, {{"summary", summary}, {"responses", {{"200", {{"description", "OK"}}}}}}}};
  };
  return {{"openapi", "3.1.0"},
          {"info", {{"title", kName}, {"version", version()}, {"description", kDescription}}},
          {"paths",
           {{"/health", path("get", "Health")},
            {"/metadata", path("get", "Metadata")},
            {"/schema", path("get", "JSON schemas")},
            {"/state", path("get", "State")},
            {"/reset", path("post", "Begin an episode")},
            {"/step", path("post", "Judge an answer")},
            {"/verify", path("post", "NeMo Gym's verification")}}},
          {"components", {{"schemas", {{"Action", schemas["action"]}, {"Observation", schemas["observation"]}}}}}};
}

Json task_entry(const TrainingTask &task) {
  return {{"task_id", task.id},
          {"family", task.family},
          {"language", task.language},
          {"kernel", task.kernel},
          {"split", split_text(task.split)}};
}

/// FastAPI's form of a refused body.
Json refusal(const std::string &place, const Error &error) {
  const Json entry{{"type", "value_error"}, {"loc", Json::array({"body", place})}, {"msg", describe(error)}};
  return {{"detail", Json::array({entry})}};
}

void send_turn(const http::AnswerPtr &answer, const Result<Turn> &turn) {
  if (turn)
    send_json(answer, 200, openenv_result(*turn));
  else
    send_json(answer, 400, {{"detail", describe(turn.error())}});
}

} // namespace

void send_json(const http::AnswerPtr &answer, int status, const Json &body) {
  answer->send(status, {{"Content-Type", "application/json"}}, message_text(body));
}

bool OpenEnv::handle(const http::Request &request, const std::string &path, const std::string &client,
                     const http::AnswerPtr &answer) {
  if (path == "/ws") {
    open_socket(client, answer);
    return true;
  }
  if (request.method == "GET")
    return answer_get(path, answer);
  const bool is_tasks = path.starts_with("/warpwright/");
  if (request.method != "POST" || (path != "/reset" && path != "/step" && !is_tasks))
    return false;
  const auto body = parse_message(request.body.empty() ? "{}" : request.body);
  if (!body || !body->is_object()) {
    send_json(answer, 422, refusal("", body ? Error{"the body is not an object", ""} : body.error()));
    return true;
  }
  if (is_tasks)
    return answer_tasks(path, *body, answer);
  path == "/reset" ? reset(*body, client, answer) : step(*body, client, answer);
  return true;
}

bool OpenEnv::answer_get(const std::string &path, const http::AnswerPtr &answer) {
  if (path == "/health")
    send_json(answer, 200, {{"status", "healthy"}});
  else if (path == "/metadata")
    send_json(answer, 200, metadata());
  else if (path == "/schema")
    send_json(answer, 200, environment_schemas());
  else if (path == "/openapi.json")
    send_json(answer, 200, open_api());
  else if (path == "/state") // of no session: WebSockets have states
    send_json(answer, 200, {{"episode_id", nullptr}, {"step_count", 0}});
  else if (path == "/list_environments")
    send_json(answer, 200, Json::array({kName}));
  else if (path == "/warpwright/splits")
    send_json(answer, 200, Json(service_.place().config.splits));
  else
    return false;
  return true;
}

bool OpenEnv::answer_tasks(const std::string &path, const Json &body, const http::AnswerPtr &answer) {
  const Json split = body.value("split", Json());
  Json tasks = Json::array();
  for (const TrainingTask &task : service_.place().tasks.all())
    if (split.is_null() || split == split_text(task.split))
      tasks.push_back(task_entry(task));
  const Json index = body.value("index", Json());
  if (path == "/warpwright/tasks")
    send_json(answer, 200, {{"tasks", tasks}, {"env_name", kName}});
  else if (path == "/warpwright/num_tasks")
    send_json(answer, 200, {{"num_tasks", tasks.size()}});
  else if (path == "/warpwright/task" && index.is_number_unsigned() && index < tasks.size())
    send_json(answer, 200, {{"task", tasks[index.get<std::size_t>()]}});
  else if (path == "/warpwright/task")
    send_json(answer, 400, {{"detail", "Invalid task index"}});
  else
    return false;
  return true;
}

void OpenEnv::reset(const Json &body, const std::string &client, const http::AnswerPtr &answer) {
  const auto request = episode_request_from(body);
  if (!request)
    return send_json(answer, 422, refusal("", request.error()));
  service_.reset(service_.passing_session(client), *request,
                 [answer](const Result<Turn> &turn) { send_turn(answer, turn); });
}

void OpenEnv::step(const Json &body, const std::string &client, const http::AnswerPtr &answer) {
  const auto request = episode_request_from(body);
  if (!request)
    return send_json(answer, 422, refusal("", request.error()));
  auto action = action_from_json(body.value("action", Json()));
  if (!action)
    return send_json(answer, 422, refusal("action", action.error()));
  if (const Json name = body.value("request_id", Json()); name.is_string() && action->request_id.empty())
    action->request_id = name;
  const auto session = service_.passing_session(client);
  const auto done = [answer](const Result<Turn> &turn) { send_turn(answer, turn); };
  session->episode = request->episode_id;
  if (request->task_id.empty())
    return service_.step(session, *action, done);
  session->episode.clear();
  service_.judge(session, *request, *action, done);
}

void OpenEnv::open_socket(const std::string &client, const http::AnswerPtr &answer) {
  if (!OpenEnvSession::open(service_, client, answer))
    send_json(answer, 426, {{"detail", "/ws is a WebSocket"}});
}

} // namespace warpwright::trainer
