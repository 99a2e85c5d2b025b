#include "trainer/serve/openenv_session.h"

#include "trainer/serve/message.h"

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostWaiting = 64; ///< messages that a client may send ahead of their answers

/// Codes of a closed WebSocket (RFC 6455, section 7.4.1, and its registry).
enum CloseCode : std::uint16_t { kNormal = 1000, kPolicy = 1008, kTryAgainLater = 1013 };

/// Pydantic's list of errors.
Json errors_of(const Error &error) {
  return Json::array({Json{{"loc", Json::array({"data"})}, {"msg", describe(error)}}});
}

} // namespace

Json openenv_result(const Turn &turn) {
  return {{"observation", turn.observation},
          {"reward", turn.reward ? Json(*turn.reward) : Json()},
          {"done", turn.done}};
}

bool OpenEnvSession::open(EnvironmentService &service, const std::string &client,
                          const http::AnswerPtr &answer) {
  const std::shared_ptr<OpenEnvSession> session(new OpenEnvSession(service));
  const std::weak_ptr<OpenEnvSession> weak = session;
  // The connection keeps the session; a step in work keeps it too.
  session->socket_ = answer->upgrade({.on_message = [session](std::string text) { session->on_message(std::move(text)); },
                                      .on_closed = [weak] {
                                        if (const auto closed = weak.lock())
                                          closed->session_ = nullptr;
                                      }});
  if (!session->socket_)
    return false;
  session->session_ = service.open_session(client);
  if (!session->session_) {
    session->refuse("CAPACITY_REACHED", "all sessions of this service are taken",
                    {{"active_sessions", service.active_sessions()},
                     {"max_sessions", service.place().config.sessions}});
    session->socket_->close(kTryAgainLater, "all sessions are taken");
  }
  return true;
}

void OpenEnvSession::on_message(std::string text) {
  if (!session_)
    return;
  if (waiting_.size() >= kMostWaiting)
    return socket_->close(kPolicy, "too many messages without waiting for their answers");
  waiting_.push_back(std::move(text));
  next();
}

void OpenEnvSession::next() {
  while (!is_busy_ && !waiting_.empty() && session_) {
    const std::string text = std::move(waiting_.front());
    waiting_.pop_front();
    is_busy_ = true;
    take(text);
  }
}

void OpenEnvSession::take(const std::string &text) {
  const auto message = parse_message(text);
  if (!message)
    return refuse("INVALID_JSON", message.error().message);
  if (!message->is_object())
    return refuse("VALIDATION_ERROR", "the message is not an object");
  const Json type = message->value("type", Json("")), data = message->value("data", Json::object());
  if (type == "reset")
    return reset(data);
  if (type == "step")
    return step(data);
  if (type == "state") {
    const Json state = service_.state(*session_);
    return reply("state", state.is_null() ? Json{{"episode_id", nullptr}, {"step_count", 0}} : state);
  }
  if (type == "close") {
    service_.forget(*session_);
    return socket_->close(kNormal, "");
  }
  refuse("UNKNOWN_TYPE", "Unknown message type: " + (type.is_string() ? type.get<std::string>() : type.dump()));
}

void OpenEnvSession::reset(const Json &data) {
  const auto request = episode_request_from(data);
  if (!request)
    return refuse("VALIDATION_ERROR", "Invalid message",
                  {{"errors", errors_of(request.error())}});
  service_.reset(session_, *request, [self = shared_from_this()](const Result<Turn> &turn) {
    turn ? self->reply("observation", openenv_result(*turn))
         : self->refuse("EXECUTION_ERROR", describe(turn.error()));
  });
}

void OpenEnvSession::step(const Json &data) {
  const auto action = action_from_json(data);
  if (!action)
    return refuse("VALIDATION_ERROR", "Invalid message",
                  {{"errors", errors_of(action.error())}});
  service_.step(session_, *action, [self = shared_from_this()](const Result<Turn> &turn) {
    turn ? self->reply("observation", openenv_result(*turn))
         : self->refuse("EXECUTION_ERROR", describe(turn.error()));
  });
}

void OpenEnvSession::reply(const char *type, Json data) {
  socket_->send(message_text({{"type", type}, {"data", std::move(data)}}));
  is_busy_ = false;
  next();
}

void OpenEnvSession::refuse(const char *code, const std::string &message, Json more) {
  more["message"] = message;
  more["code"] = code;
  reply("error", std::move(more));
}

} // namespace warpwright::trainer
