// The protocol of OpenEnv (github.com/meta-pytorch/OpenEnv, core/env_server, version 0.3): a
// WebSocket /ws for each session, and HTTP for what stands alone.
//
//   GET  /health /metadata /schema /openapi.json /state /list_environments /warpwright/splits
//   POST /warpwright/tasks /warpwright/num_tasks /warpwright/task
//   POST /reset {parameters}, /step {"action", "task_id" or "episode_id"}
//   /ws  in  {"type": "reset" | "step" | "state" | "close", "data"}
//        out {"type": "observation", "data": {"observation", "reward", "done"}}, {"type": "state", "data"},
//            {"type": "error", "data": {"message", "code", ..}}
// Beyond OpenEnv: `reset` has "resume", a step is named by its action's metadata.request_id, and
// over HTTP an episode of /reset goes on with /step {"episode_id"}. Without one, /step
// {"task_id"} is a verdict on its own. Thread: the strand.
#pragma once

#include "support/http/http_server.h"
#include "trainer/serve/service.h"

namespace warpwright::trainer {

class OpenEnv {
public:
  explicit OpenEnv(EnvironmentService &service) : service_(service) {}

  /// @param path of the request, without a token @return false: the path belongs to another protocol
  bool handle(const http::Request &request, const std::string &path, const std::string &client,
              const http::AnswerPtr &answer);

private:
  bool answer_get(const std::string &path, const http::AnswerPtr &answer);
  bool answer_tasks(const std::string &path, const nlohmann::json &body, const http::AnswerPtr &answer);
  void reset(const nlohmann::json &body, const std::string &client, const http::AnswerPtr &answer);
  void step(const nlohmann::json &body, const std::string &client, const http::AnswerPtr &answer);
  void open_socket(const std::string &client, const http::AnswerPtr &answer);

  EnvironmentService &service_;
};

/// Sends JSON.
void send_json(const http::AnswerPtr &answer, int status, const nlohmann::json &body);

} // namespace warpwright::trainer
