#include "trainer/endpoint/chat_stream.h"

#include <nlohmann/json.hpp>

namespace warpwright::trainer {
namespace {

using nlohmann::json;

std::optional<ChatUsage> usage_of(const json &document) {
  const auto usage = document.find("usage");
  if (usage == document.end() || !usage->is_object())
    return std::nullopt;
  const auto count = [&](const char *key) {
    const auto found = usage->find(key);
    return found != usage->end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  };
  return ChatUsage{count("prompt_tokens"), count("completion_tokens")};
}

std::string text_in(const json &object, const char *key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns the first choice, or null.
const json *choice_of(const json &document) {
  const auto choices = document.find("choices");
  if (choices == document.end() || !choices->is_array() || choices->empty() ||
      !choices->front().is_object())
    return nullptr;
  return &choices->front();
}

Result<ChatAnswer> checked(ChatAnswer answer) {
  if (answer.text.empty())
    return fail("the endpoint answered with no text" +
                    (answer.finish.empty() ? "" : " (finish_reason " + answer.finish + ")"),
                answer.finish == "length" ? "Raise max_tokens in [endpoint]" : "");
  return answer;
}

} // namespace

bool ChatStream::append(std::string_view piece,
                        const std::function<void(std::string_view)> &on_text) {
  for (const char c : piece) {
    if (done_ || !problem_.empty())
      return false;
    if (c != '\n') {
      line_ += c;
      continue;
    }
    if (line_.ends_with('\r'))
      line_.pop_back();
    if (line_.empty()) { // ends an event
      if (!event_.empty())
        read_event(std::exchange(event_, {}), on_text);
    } else if (line_.starts_with("data:")) {
      const std::size_t start = line_.size() > 5 && line_[5] == ' ' ? 6 : 5;
      event_ += (event_.empty() ? "" : "\n") + line_.substr(start);
    } // else: a keep-alive comment or another field
    line_.clear();
  }
  return !done_ && problem_.empty();
}

void ChatStream::read_event(const std::string &data,
                            const std::function<void(std::string_view)> &on_text) {
  if (data == "[DONE]") {
    done_ = true;
    return;
  }
  const json document = json::parse(data, nullptr, false);
  if (!document.is_object()) {
    problem_ = "an event of the stream is no JSON object: " + data.substr(0, 80);
    return;
  }
  if (const auto error = document.find("error"); error != document.end() && !error->is_null()) {
    problem_ = "the endpoint broke off: " + endpoint_message(data);
    return;
  }
  if (auto usage = usage_of(document))
    usage_ = usage;
  const json *choice = choice_of(document);
  if (!choice) {
    if (!document.contains("choices") || !document["choices"].is_array())
      problem_ = "an event of the stream has no choices: " + data.substr(0, 80);
    return; // the last event may carry the usage alone
  }
  if (const auto delta = choice->find("delta"); delta != choice->end() && delta->is_object()) {
    const std::string text = text_in(*delta, "content");
    answer_.text += text;
    if (on_text && !text.empty())
      on_text(text);
  }
  if (const std::string finish = text_in(*choice, "finish_reason"); !finish.empty())
    answer_.finish = finish;
}

Result<ChatAnswer> ChatStream::finish() const {
  if (!problem_.empty())
    return fail(problem_);
  if (!done_ && answer_.finish.empty())
    return fail("the stream ended before the answer did");
  return checked(answer_);
}

Result<ChatAnswer> chat_answer_from(const std::string &body, std::optional<ChatUsage> &usage) {
  const json document = json::parse(body, nullptr, false);
  const json *choice = document.is_object() ? choice_of(document) : nullptr;
  const auto message = choice ? choice->find("message") : json::const_iterator();
  if (!choice || message == choice->end() || !message->is_object())
    return fail("the endpoint's answer is no chat completion: " + body.substr(0, 80));
  usage = usage_of(document);
  return checked({text_in(*message, "content"), text_in(*choice, "finish_reason")});
}

std::string endpoint_message(const std::string &body) {
  const json document = json::parse(body, nullptr, false);
  if (document.is_object() && document.contains("error")) {
    const json &error = document["error"];
    const std::string text = error.is_object()   ? text_in(error, "message")
                             : error.is_string() ? error.get<std::string>()
                                                 : "";
    if (!text.empty())
      return text.substr(0, 400);
  }
  return body.substr(0, 200);
}

} // namespace warpwright::trainer
