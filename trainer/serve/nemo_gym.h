// The protocol of NeMo Gym's resources servers (github.com/NVIDIA-NeMo/Gym,
// base_resources_server.py, August 2026).
//
//   POST /verify {"responses_create_params", "response", "task_id" or "verifier_metadata": {"task_id"}}
//        -> the body with "reward"; "warpwright" has the observation. If nothing was measured,
//           also "mask_sample": true, "failure_kind", "failure_reason", "_ng_failure_class"
//   POST /seed_session, /close_session, /aggregate_metrics; GET /reverify_mode
// A verification keeps nothing, so any number of them may run at once. Thread: the strand.
#pragma once

#include "support/http/http_server.h"
#include "trainer/serve/service.h"

namespace warpwright::trainer {

class NemoGym {
public:
  explicit NemoGym(EnvironmentService &service) : service_(service) {}

  /// @return false: the path belongs to another protocol
  bool handle(const http::Request &request, const std::string &path, const std::string &client,
              const http::AnswerPtr &answer);

private:
  void verify(nlohmann::json body, const std::string &client, const http::AnswerPtr &answer);

  EnvironmentService &service_;
};

/// Text of the assistant's messages in a response of OpenAI's responses API. nullopt: there is
/// none.
std::optional<std::string> assistant_text(const nlohmann::json &response);

/// The messages of a request's input, which is a text or a list; parts that are no texts are skipped.
std::vector<ChatMessage> input_messages(const nlohmann::json &responses_create_params);

/// Mean, least and largest reward of verify responses whose samples count: {"count", "mean/reward",
/// ..}.
nlohmann::json reward_metrics(const nlohmann::json &verify_responses);

} // namespace warpwright::trainer
