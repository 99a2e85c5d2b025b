// Chat completions of an OpenAI-compatible endpoint: one conversation in, one answer's text out, whatever the line does meanwhile.
//
// Tried again, with exponential backoff and jitter, or after Retry-After: 408, 409, 429, 5xx, lines that are down, silent or cut. Not
// tried again: what a second try would not mend (400, 401, 403, 404, ...). Our own limits of requests and tokens a minute are waited
// for; the budget of tokens ends the run. Tokens are what the endpoint reports, or, where it reports none, a third of the bytes, and
// marked as estimated. Thread: one at a time.
#pragma once

#include "trainer/endpoint/https.h"

#include <deque>
#include <functional>
#include <random>
#include <vector>

namespace warpwright::trainer {

struct ChatMessage {
  std::string role; ///< "system", "user", "assistant"
  std::string content;
};

struct ChatAnswer {
  std::string text;
  std::string finish; ///< "stop", "length", ...; empty where the endpoint says none
};

/// What was spent and met so far, for logs and reports.
struct ChatTotals {
  std::uint64_t requests = 0, answers = 0, retries = 0, rate_limited = 0, failures = 0;
  std::uint64_t prompt_tokens = 0, answer_tokens = 0;
  bool estimated = false; ///< some of the tokens
  double waited_s = 0;    ///< for limits and between tries
};

/// Time as the client sees it; tests use a fake.
class ChatClock {
public:
  virtual ~ChatClock() = default;
  virtual std::chrono::steady_clock::time_point now() = 0;
  /// The date, for a Retry-After that names one.
  virtual std::chrono::system_clock::time_point date() = 0;
  /// @return false when `stop` asked first
  virtual bool sleep(std::chrono::milliseconds duration, std::stop_token stop) = 0;
};
std::unique_ptr<ChatClock> make_real_clock();

class ChatClient {
public:
  using Log = std::function<void(const std::string &line)>;

  /// @param log one line a retry; may be empty
  ChatClient(EndpointConfig config, std::unique_ptr<HttpTransport> transport,
             std::unique_ptr<ChatClock> clock, std::uint64_t seed, Log log = {});

  /// @param on_text pieces of the answer as they arrive; of every try anew; may be empty
  /// Errors: the budget is spent; an error that trying again does not mend; the last of `attempts`; a stop.
  Result<ChatAnswer> complete(const std::vector<ChatMessage> &messages,
                              const std::function<void(std::string_view)> &on_text = {},
                              std::stop_token stop = {});
  const ChatTotals &totals() const { return totals_; }

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
  std::unique_ptr<HttpTransport> transport_;
  std::unique_ptr<ChatClock> clock_;
  std::mt19937_64 random_;
  Log log_;
  ChatTotals totals_;
  std::deque<Spent> last_minute_;
};

/// Seconds of a Retry-After header: a number, or an HTTP date; nullopt: neither.
std::optional<std::chrono::milliseconds>
parse_retry_after(const std::string &text, std::chrono::system_clock::time_point now);

} // namespace warpwright::trainer
