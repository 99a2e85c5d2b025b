// Parser of a chat completion's body: server-sent events as they arrive, or one JSON object.
//
// Pieces may be cut anywhere, also inside a UTF-8 sequence or between \r and \n. The content is checked strictly: each
// event must be a JSON object with `choices`, `usage` or `error`, and the stream must end with [DONE] or a
// finish_reason. Thread: one at a time.
#pragma once

#include "support/error.h"
#include "trainer/endpoint/chat.h"

#include <string_view>

namespace warpwright::trainer {

struct ChatUsage {
  std::uint64_t prompt_tokens = 0, answer_tokens = 0;
};

class ChatStream {
public:
  /// @return false if no more input is needed: the stream has failed, or [DONE] was read
  bool append(std::string_view piece, const std::function<void(std::string_view)> &on_text);
  /// Call it after the body has ended. Errors: an invalid event, an error from the endpoint, no end, no text.
  Result<ChatAnswer> finish() const;
  const std::optional<ChatUsage> &usage() const { return usage_; }

private:
  void read_event(const std::string &data, const std::function<void(std::string_view)> &on_text);

  std::string line_, event_, problem_;
  ChatAnswer answer_;
  std::optional<ChatUsage> usage_;
  bool done_ = false;
};

/// Parses a body that is one JSON object. Errors: as ChatStream.
Result<ChatAnswer> chat_answer_from(const std::string &body, std::optional<ChatUsage> &usage);

/// The endpoint's message from the body of an error; the body's first 200 bytes if it is not JSON.
std::string endpoint_message(const std::string &body);

} // namespace warpwright::trainer
