#include "trainer/endpoint/chat.h"

#include "support/words.h"
#include "trainer/endpoint/chat_stream.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>

namespace warpwright::trainer {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{1'000}, kLongestPause{60'000};
/// The client gives up, with an error for the user, if the server asks for a longer wait.
constexpr std::chrono::minutes kLongestRetryAfter{15};
constexpr int kLeastAnswerTokens = 256;
constexpr std::chrono::seconds kMinute{60};

/// Estimates three bytes per token. Most texts have more, so the estimate is rather too high.
std::uint64_t estimated_tokens(std::size_t bytes) { return bytes / 3 + 1; }

bool may_mend(int status) {
  return status == 408 || status == 409 || status == 429 || status >= 500;
}

class RealClock final : public ChatClock {
public:
  std::chrono::steady_clock::time_point now() override { return std::chrono::steady_clock::now(); }
  std::chrono::system_clock::time_point date() override { return std::chrono::system_clock::now(); }
  bool sleep(milliseconds duration, std::stop_token stop) override {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    return !changed.wait_for(lock, stop, duration, [&] { return stop.stop_requested(); });
  }
};

} // namespace

std::unique_ptr<ChatClock> make_real_clock() { return std::make_unique<RealClock>(); }

std::optional<milliseconds> parse_retry_after(const std::string &text,
                                              std::chrono::system_clock::time_point now) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size())
    return seconds >= 0 && seconds < 1e9 ? std::optional(milliseconds(std::llround(seconds * 1000)))
                                         : std::nullopt;
  std::tm parts{};
  const char *rest = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (!rest || *rest)
    return std::nullopt;
  const auto when = std::chrono::system_clock::from_time_t(::timegm(&parts));
  return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(when - now));
}

/// Result of one try.
struct ChatClient::Try {
  std::optional<ChatAnswer> answer;
  std::optional<ChatUsage> usage;
  std::size_t bytes = 0; ///< received, with event framing; may be of no use
  Error error;
  bool again = false; ///< another try may succeed
  bool limited = false;
  bool refused = false; ///< the endpoint does not take the request as it is
  std::string retry_after;
};

ChatClient::ChatClient(EndpointConfig config, std::unique_ptr<HttpTransport> transport,
                       std::unique_ptr<ChatClock> clock, std::uint64_t seed, Log log)
    : config_(std::move(config)), transport_(std::move(transport)), clock_(std::move(clock)),
      random_(seed), log_(std::move(log)) {}

std::optional<double> ChatClient::cost() const {
  constexpr double kTokens = 1e6; // of a price
  if (config_.prompt_price + config_.answer_price == 0)
    return std::nullopt;
  return (static_cast<double>(totals_.prompt_tokens) * config_.prompt_price +
          static_cast<double>(totals_.answer_tokens) * config_.answer_price) /
         kTokens;
}

/// Returns the number of tokens that the answer may have. Errors: a budget is spent.
Result<int> ChatClient::affordable(const std::string &prompt) const {
  if (const double spent = cost().value_or(0);
      config_.money_budget > 0 && spent >= config_.money_budget)
    return fail("the endpoint's money budget is spent: " + printed("%.2f", spent) + " of " +
                    printed("%.2f", config_.money_budget),
                "Raise money_budget in [endpoint] to go on");
  if (config_.token_budget == 0)
    return config_.max_tokens;
  const std::uint64_t spent = totals_.prompt_tokens + totals_.answer_tokens;
  const std::uint64_t needed = spent + estimated_tokens(prompt.size());
  if (needed + kLeastAnswerTokens > config_.token_budget)
    return fail("the endpoint's token budget is spent: " + std::to_string(spent) + " of " +
                    std::to_string(config_.token_budget) + " tokens",
                "Raise token_budget in [endpoint] to go on");
  return static_cast<int>(
      std::min<std::uint64_t>(config_.token_budget - needed, config_.max_tokens));
}

Result<void> ChatClient::wait_for_limits(std::uint64_t tokens, std::stop_token stop) {
  const auto requests = static_cast<std::size_t>(config_.requests_per_minute);
  const auto allowed = static_cast<std::uint64_t>(config_.tokens_per_minute);
  while (requests || allowed) {
    const auto now = clock_->now();
    while (!last_minute_.empty() && now - last_minute_.front().when >= kMinute)
      last_minute_.pop_front();
    std::uint64_t spent = 0;
    for (const Spent &one : last_minute_)
      spent += one.tokens;
    const bool room = (!requests || last_minute_.size() < requests) &&
                      (!allowed || spent + tokens <= allowed || last_minute_.empty());
    if (room)
      break;
    const auto pause =
        std::chrono::duration_cast<milliseconds>(last_minute_.front().when + kMinute - now) +
        milliseconds(1);
    totals_.waited_s += std::chrono::duration<double>(pause).count();
    if (!clock_->sleep(pause, stop))
      return fail("the request was stopped");
  }
  return {};
}

ChatClient::Try ChatClient::attempt(const std::string &body,
                                    const std::function<void(std::string_view)> &on_text,
                                    std::stop_token stop) {
  Try made;
  ChatStream stream;
  const auto on_piece = [&](std::string_view piece) {
    if (!config_.stream)
      return true;
    made.bytes += piece.size();
    return stream.append(piece, on_text);
  };
  const auto http = transport_->post({.path = "/chat/completions",
                                      .body = body,
                                      .stream = config_.stream,
                                      .idle = std::chrono::seconds(config_.idle_s),
                                      .total = std::chrono::seconds(config_.answer_s)},
                                     on_piece, stop);
  if (!http) {
    made.error = http.error();
    made.again = !stop.stop_requested();
    return made;
  }
  if (http->status != 200) {
    made.error = {"the endpoint answered " + std::to_string(http->status) + ": " +
                      endpoint_message(http->body),
                  http->status == 401 || http->status == 403 ? "Check the key and what it may use"
                  : http->status == 404                      ? "Check url and model in [endpoint]"
                                                             : ""};
    made.again = may_mend(http->status);
    made.limited = http->status == 429;
    made.refused = http->status == 400 || http->status == 422;
    made.retry_after = http->retry_after;
    return made;
  }
  // Some endpoints answer a request for a stream with one object.
  const bool streamed = config_.stream && !http->content_type.starts_with("application/json");
  made.bytes = http->body.size();
  auto answer = streamed ? stream.finish() : chat_answer_from(http->body, made.usage);
  if (streamed)
    made.usage = stream.usage();
  else if (answer && on_text)
    on_text(answer->text);
  if (answer) {
    made.answer = std::move(*answer);
  } else {
    made.error = answer.error();
    made.again = true;
  }
  return made;
}

milliseconds ChatClient::pause_before(int next_attempt, const std::string &retry_after) {
  if (const auto asked = parse_retry_after(retry_after, clock_->date()))
    return *asked;
  const double longest =
      std::min<double>(static_cast<double>(kLongestPause.count()),
                       static_cast<double>(kFirstPause.count()) * std::exp2(next_attempt - 1));
  // Jitter over the upper half of the pause, so that many clients do not return at once.
  const double share = 0.5 + 0.5 * static_cast<double>(random_() >> 11) * 0x1p-53;
  return milliseconds(std::llround(longest * share));
}

void ChatClient::account(const std::string &body, const ChatAnswer &answer, const Try &made) {
  ChatUsage usage;
  if (made.usage && made.usage->prompt_tokens) {
    usage = *made.usage;
  } else {
    usage = {estimated_tokens(body.size()), estimated_tokens(answer.text.size())};
    totals_.estimated = true;
  }
  totals_.prompt_tokens += usage.prompt_tokens;
  totals_.answer_tokens += usage.answer_tokens;
  last_minute_.back().tokens = usage.prompt_tokens + usage.answer_tokens;
}

Result<ChatAnswer> ChatClient::complete(const std::vector<ChatMessage> &messages,
                                        const std::function<void(std::string_view)> &on_text,
                                        std::stop_token stop) {
  json request{{"model", config_.model},
               {"temperature", config_.temperature},
               {"stream", config_.stream},
               {"messages", json::array()}};
  if (config_.stream)
    request["stream_options"] = {{"include_usage", true}};
  if (!schema_.is_null())
    request["response_format"] = {
        {"type", "json_schema"}, {"json_schema", {{"name", "kernel"}, {"schema", schema_}}}};
  for (const ChatMessage &message : messages)
    request["messages"].push_back({{"role", message.role}, {"content", message.content}});
  const auto replace = json::error_handler_t::replace;
  Error last;
  for (int number = 1; number <= config_.attempts; ++number) {
    const std::string prompt = request["messages"].dump(-1, ' ', false, replace);
    const auto most = TRY(affordable(prompt));
    request[config_.token_field] = most;
    const std::string body = request.dump(-1, ' ', false, replace);
    TRY(wait_for_limits(estimated_tokens(body.size()), stop));
    last_minute_.push_back({clock_->now(), estimated_tokens(body.size())});
    ++totals_.requests;
    Try made = attempt(body, on_text, stop);
    if (made.answer) {
      account(prompt, *made.answer, made);
      ++totals_.answers;
      return *made.answer;
    }
    // Answers that broke off cost tokens too.
    if (made.bytes > 0) {
      totals_.prompt_tokens += estimated_tokens(prompt.size());
      totals_.answer_tokens += estimated_tokens(made.bytes);
      totals_.estimated = true;
    }
    last = made.error;
    totals_.rate_limited += made.limited;
    if (made.refused && request.erase("response_format") > 0) {
      schema_ = nullptr;
      ++totals_.retries;
      if (log_)
        log_(last.message + "; again without a schema");
      continue;
    }
    if (!made.again || number == config_.attempts)
      break;
    const milliseconds pause = pause_before(number, made.retry_after);
    if (pause > kLongestRetryAfter) {
      last.remedy =
          "It asks to come back in " +
          std::to_string(std::chrono::duration_cast<std::chrono::minutes>(pause).count()) +
          " minutes";
      break;
    }
    ++totals_.retries;
    totals_.waited_s += std::chrono::duration<double>(pause).count();
    if (log_)
      log_(last.message + "; again in " + std::to_string((pause.count() + 500) / 1000) + " s");
    if (!clock_->sleep(pause, stop))
      return fail("the request was stopped");
  }
  ++totals_.failures;
  return std::unexpected(last);
}

} // namespace warpwright::trainer
