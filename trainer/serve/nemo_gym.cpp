#include "trainer/serve/nemo_gym.h"

#include "trainer/serve/message.h"
#include "trainer/serve/openenv.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

/// An environment's own kind of failure, as failure_kinds.py has it: "<server>:<kind>".
constexpr const char *kNotMeasured = "warpwright:not_measured";
constexpr const char *kVerifierError = "verifier_error";

/// The task that a body names; empty: none.
std::string task_of(const Json &body) {
  for (const Json &place : {body, body.value("verifier_metadata", Json::object())})
    if (place.is_object())
      if (const Json id = place.value("task_id", Json()); id.is_string())
        return id;
  return "";
}

/// The answer to a verification without a verdict. Gym's reward is a number, so it is 0 and masked.
Json masked(Json body, const char *kind, const std::string &reason) {
  body["reward"] = 0.0;
  body["mask_sample"] = true;
  body["failure_kind"] = kind;
  body["failure_reason"] = reason;
  body["_ng_failure_class"] = "not_measured";
  return body;
}

Json verified(Json body, const Turn &turn) {
  for (const char *stale : {"mask_sample", "failure_kind", "failure_reason", "_ng_failure_class"})
    body.erase(stale); // of a verification before this one
  body["warpwright"] = turn.observation;
  body["warpwright"].erase("prompt");
  if (turn.lost)
    return masked(std::move(body), kVerifierError, describe(*turn.lost));
  if (!turn.reward)
    return masked(std::move(body), kNotMeasured,
                  turn.observation.value("message", "the verdict has no times"));
  body["reward"] = *turn.reward;
  body["mask_sample"] = false;
  return body;
}

} // namespace

std::optional<std::string> assistant_text(const Json &response) {
  std::optional<std::string> text;
  const Json output = response.is_object() ? response.value("output", Json::array()) : Json::array();
  for (const Json &item : output) {
    if (!item.is_object() || item.value("type", "message") != "message" ||
        item.value("role", "assistant") != "assistant")
      continue;
    const Json content = item.value("content", Json::array());
    if (content.is_string())
      text = text.value_or("") + content.get<std::string>();
    for (const Json &part : content.is_array() ? content : Json::array())
      if (part.is_object() && part.value("type", "") == "output_text" && part.value("text", Json()).is_string())
        text = text.value_or("") + part["text"].get<std::string>();
  }
  return text;
}

std::vector<ChatMessage> input_messages(const Json &parameters) {
  std::vector<ChatMessage> messages;
  const Json input = parameters.is_object() ? parameters.value("input", Json()) : Json();
  if (input.is_string())
    messages.push_back({"user", input});
  for (const Json &item : input.is_array() ? input : Json::array())
    if (item.is_object() && item.value("role", Json()).is_string() && item.value("content", Json()).is_string())
      messages.push_back({item["role"], item["content"]});
  return messages;
}

Json reward_metrics(const Json &verify_responses) {
  double sum = 0, least = 0, most = 0;
  std::size_t count = 0, masked_count = 0;
  for (const Json &response : verify_responses) {
    if (!response.is_object() || !response.value("reward", Json()).is_number())
      continue;
    if (response.value("mask_sample", false)) {
      ++masked_count;
      continue;
    }
    const double reward = response["reward"];
    least = count ? std::min(least, reward) : reward;
    most = count ? std::max(most, reward) : reward;
    sum += reward;
    ++count;
  }
  Json metrics{{"count", count}, {"masked", masked_count}};
  if (count)
    metrics.update({{"mean/reward", sum / double(count)}, {"min/reward", least}, {"max/reward", most}});
  return metrics;
}

bool NemoGym::handle(const http::Request &request, const std::string &path, const std::string &client,
                     const http::AnswerPtr &answer) {
  if (request.method == "GET" && path == "/reverify_mode") {
    send_json(answer, 200, "stateless");
    return true;
  }
  const bool is_known = path == "/verify" || path == "/seed_session" || path == "/close_session" ||
                        path == "/aggregate_metrics";
  if (request.method != "POST" || !is_known)
    return false;
  auto body = parse_message(request.body.empty() ? "{}" : request.body);
  if (!body || !body->is_object()) {
    send_json(answer, 422, {{"detail", body ? "the body is not an object" : body.error().message}});
  } else if (path == "/verify") {
    verify(std::move(*body), client, answer);
  } else if (path == "/aggregate_metrics") {
    const Json metrics = reward_metrics(body->value("verify_responses", Json::array()));
    send_json(answer, 200, {{"agent_metrics", metrics}, {"key_metrics", metrics}, {"group_level_metrics", Json::array()}});
  } else { // there is nothing to keep for a session
    const Json id = body->value("resources_session_id", Json());
    send_json(answer, 200, id.is_string() ? Json{{"resources_session_id", id}} : Json::object());
  }
  return true;
}

void NemoGym::verify(Json body, const std::string &client, const http::AnswerPtr &answer) {
  EpisodeRequest request;
  request.task_id = task_of(body);
  request.seen = input_messages(body.value("responses_create_params", Json()));
  const auto text = assistant_text(body.value("response", Json()));
  if (request.task_id.empty() || !service_.place().tasks.find(request.task_id))
    return send_json(answer, 422, {{"detail", "the body names no task of this service in `task_id`"}});
  Action action;
  action.answer = TextAnswer{text.value_or("")};
  service_.judge(service_.passing_session(client), request, std::move(action),
                 [answer, body = std::move(body)](const Result<Turn> &turn) {
                   send_json(answer, 200,
                             turn ? verified(body, *turn)
                                  : masked(body, kVerifierError, describe(turn.error())));
                 });
}

} // namespace warpwright::trainer
