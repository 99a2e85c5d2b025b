// Client of an OpenAI-compatible endpoint's chat completions: a conversation in, an answer's text out, with retries.
//
// The client tries again, with exponential backoff and jitter or after Retry-After, on 408, 409, 429, 5xx, unusable
// answers, and connections that fail, stay silent or break off. It does not retry other statuses (400, 401, 403, 404,
// ...). It waits when the configured requests or tokens per minute are used up; a spent token budget is an error. Token
// counts come from the endpoint; if it reports none, a third of the bytes is counted and marked as estimated.
// Thread: one at a time.
#pragma once

#include "trainer/endpoint/https.h"

#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <vector>

namespace warpwright::trainer {

struct ChatMessage {
  std::string role; ///< "system", "user", "assistant"
  std::string content;
};

struct ChatAnswer {
  std::string text;
  std::string finish; ///< "stop", "length", ...; empty if the endpoint gives none
};

/// Counters of requests, failures and tokens so far, for logs and reports.
struct ChatTotals {
  std::uint64_t requests = 0, answers = 0, retries = 0, rate_limited = 0, failures = 0;
  std::uint64_t prompt_tokens = 0, answer_tokens = 0;
  bool estimated = false; ///< some token counts are estimates
  double waited_s = 0;    ///< for limits and between tries
};

/// Clock of the client; tests use a fake.
class ChatClock {
public:
  virtual ~ChatClock() = default;
  virtual std::chrono::steady_clock::time_point now() = 0;
  /// The date, for a Retry-After header that holds a date.
  virtual std::chrono::system_clock::time_point date() = 0;
  /// @return false if a stop was requested before the time was over
  virtual bool sleep(std::chrono::milliseconds duration, std::stop_token stop) = 0;
};
std::unique_ptr<ChatClock> make_real_clock();

class ChatClient {
public:
  using Log = std::function<void(const std::string &line)>;

  /// @param log gets one line per retry; may be empty
  ChatClient(EndpointConfig config, std::unique_ptr<HttpTransport> transport,
             std::unique_ptr<ChatClock> clock, std::uint64_t seed, Log log = {});

  /// Later answers must be JSON that fits the schema. From an endpoint that refuses such a request, having no
  /// structured output, answers are asked for without it.
  void require(nlohmann::json schema) { schema_ = std::move(schema); }

  /// @param on_text gets pieces of the answer as they arrive, from the start again in each try; may be empty
  /// Errors: the budget is spent; an error that is not retried; the last of `attempts` failed; a stop; a Retry-After
  /// over 15 minutes.
  Result<ChatAnswer> complete(const std::vector<ChatMessage> &messages,
                              const std::function<void(std::string_view)> &on_text = {},
                              std::stop_token stop = {});
  const ChatTotals &totals() const { return totals_; }
  const EndpointConfig &config() const { return config_; }
  /// Money spent so far; nullopt: the configuration has no prices.
  std::optional<double> cost() const;

private:
  struct Try;
  struct Spent {
    std::chrono::steady_clock::time_point when;
    std::uint64_t tokens = 0;
  };

  Result<int> affordable(const std::string &body_without_limit) const;
  Result<void> wait_for_limits(std::uint64_t tokens, std::stop_token stop);
  Try attempt(const std::string &body, const std::function<void(std::string_view)> &on_text,
              std::stop_token stop);
  std::chrono::milliseconds pause_before(int next_attempt, const std::string &retry_after);
  void account(const std::string &body, const ChatAnswer &answer, const Try &made);

  EndpointConfig config_;
  nlohmann::json schema_; ///< null: answers are free text
  std::unique_ptr<HttpTransport> transport_;
  std::unique_ptr<ChatClock> clock_;
  std::mt19937_64 random_;
  Log log_;
  ChatTotals totals_;
  std::deque<Spent> last_minute_;
};

/// Pause that a Retry-After header asks for, given in seconds or as an HTTP date; nullopt: neither.
std::optional<std::chrono::milliseconds>
parse_retry_after(const std::string &text, std::chrono::system_clock::time_point now);

} // namespace warpwright::trainer
