// One WebSocket of OpenEnv's protocol (openenv.h): messages in, one answer for each, in order.
// Thread: the strand.
#pragma once

#include "support/http/http_server.h"
#include "trainer/serve/service.h"

#include <deque>

namespace warpwright::trainer {

/// {"observation", "reward", "done"}; the reward is null where nothing was measured.
nlohmann::json openenv_result(const Turn &turn);

class OpenEnvSession : public std::enable_shared_from_this<OpenEnvSession> {
public:
  /// Answers the handshake; then refuses the session with CAPACITY_REACHED if there is no place.
  /// @return false: the request is no handshake
  static bool open(EnvironmentService &service, const std::string &client, const http::AnswerPtr &answer);

private:
  explicit OpenEnvSession(EnvironmentService &service) : service_(service) {}
  void on_message(std::string text);
  void next();
  void take(const std::string &text);
  void step(const nlohmann::json &data);
  void reset(const nlohmann::json &data);
  void reply(const char *type, nlohmann::json data);
  void refuse(const char *code, const std::string &message, nlohmann::json more = nlohmann::json::object());

  EnvironmentService &service_;
  ServeSessionPtr session_;
  http::WebSocketPtr socket_;
  std::deque<std::string> waiting_;
  bool is_busy_ = false;
};

} // namespace warpwright::trainer
