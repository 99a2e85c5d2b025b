// A chat completion out of a body: server-sent events as they arrive, or one JSON object.
//
// Events may be cut anywhere, also inside a UTF-8 sequence or between \r and \n. What the events must hold is strict: each is a JSON object with
// `choices`, or an `error`; the stream ends with [DONE] or a finish_reason. Thread: one at a time.
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
  /// @return false when the rest is not wanted: it has failed, or [DONE] was read
  bool append(std::string_view piece, const std::function<void(std::string_view)> &on_text);
  /// When the body has ended. Errors: an event that is none, an error that the endpoint sent, no end, no text.
  Result<ChatAnswer> finish() const;
  const std::optional<ChatUsage> &usage() const { return usage_; }

private:
  void read_event(const std::string &data, const std::function<void(std::string_view)> &on_text);

  std::string line_, event_, problem_;
  ChatAnswer answer_;
  std::optional<ChatUsage> usage_;
  bool done_ = false;
};

/// Of a body that is one object. Errors: as ChatStream.
Result<ChatAnswer> chat_answer_from(const std::string &body, std::optional<ChatUsage> &usage);

/// What the endpoint says is wrong, from an error's body; its first 200 bytes where it is no JSON.
std::string endpoint_message(const std::string &body);

} // namespace warpwright::trainer
