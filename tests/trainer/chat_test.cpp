// The chat client against a real TLS server that streams, limits, fails, hangs, breaks off and talks nonsense.
#include "tests/trainer/chat_server.h"
#include "trainer/endpoint/chat.h"
#include "trainer/endpoint/chat_stream.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace warpwright;
using namespace warpwright::trainer;
using namespace warpwright::trainer::testing;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

constexpr const char *kKey = "sk-very-secret-0123456789";

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Time that passes only when somebody sleeps.
class FakeClock final : public ChatClock {
public:
  explicit FakeClock(std::vector<milliseconds> &slept) : slept_(slept) {}
  std::chrono::steady_clock::time_point now() override { return now_; }
  std::chrono::system_clock::time_point date() override {
    return std::chrono::system_clock::from_time_t(1'000'000'000);
  }
  bool sleep(milliseconds duration, std::stop_token stop) override {
    slept_.push_back(duration);
    now_ += duration;
    return !stop.stop_requested();
  }

private:
  std::vector<milliseconds> &slept_;
  std::chrono::steady_clock::time_point now_{};
};

/// A client of a server, with all it logged and slept.
struct Session {
  explicit Session(std::vector<Reply> script) : server(std::move(script)) {
    config.url = server.url();
    config.model = "test-model";
    config.ca = server.ca();
    config.idle_s = 20;
  }
  Result<ChatAnswer> ask(const std::string &question = "hello") {
    if (!client) {
      auto transport = make_https(config, Secret(kKey));
      REQUIRE_MESSAGE(transport, (transport ? "" : describe(transport.error())));
      client = std::make_unique<ChatClient>(
          config, std::move(*transport), std::make_unique<FakeClock>(slept), 1,
          [this](const std::string &line) { log += line + "\n"; });
    }
    return client->complete({{"system", "be brief"}, {"user", question}},
                            [this](std::string_view piece) { heard += piece; });
  }

  ChatServer server;
  EndpointConfig config;
  std::vector<milliseconds> slept;
  std::string log, heard;
  std::unique_ptr<ChatClient> client;
};

} // namespace

TEST_CASE("a streamed answer arrives piece by piece and is whole at the end") {
  Session session({streamed_answer({"Hel", "lo, \xc3\xa4", " world"})});
  const auto answer = session.ask();
  REQUIRE_MESSAGE(answer, (answer ? "" : describe(answer.error())));
  CHECK(answer->text == "Hello, \xc3\xa4 world");
  CHECK(answer->finish == "stop");
  CHECK(session.heard == answer->text);
  const auto seen = session.server.seen();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].target == "/v1/chat/completions");
  CHECK(seen[0].authorization == std::string("Bearer ") + kKey);
  CHECK(seen[0].accept == "text/event-stream");
  const json body = json::parse(seen[0].body);
  CHECK(body["model"] == "test-model");
  CHECK(body["stream"] == true);
  CHECK(body["messages"][1]["content"] == "hello");
  CHECK_FALSE(has(seen[0].body, kKey));
  CHECK(session.client->totals().prompt_tokens == 11);
  CHECK(session.client->totals().answer_tokens == 7);
  CHECK_FALSE(session.client->totals().estimated);
}

TEST_CASE("an answer in one object is taken, asked for or not") {
  Session session({whole_answer("all at once")});
  CHECK(session.ask()->text == "all at once");
  session.config.stream = false;
  session.client.reset();
  CHECK(session.ask()->text == "all at once");
}

TEST_CASE("429 and 500 are tried again: after Retry-After, then with growing pauses") {
  Session session({error_answer(429, "slow down", {{"Retry-After", "7"}}),
                   error_answer(500, "oops"), error_answer(503, "busy"), whole_answer("at last")});
  CHECK(session.ask()->text == "at last");
  REQUIRE(session.slept.size() == 3);
  CHECK(session.slept[0] == milliseconds(7000));
  CHECK((session.slept[1] >= milliseconds(1000) && session.slept[1] <= milliseconds(2000)));
  CHECK((session.slept[2] >= milliseconds(2000) && session.slept[2] <= milliseconds(4000)));
  CHECK(session.client->totals().retries == 3);
  CHECK(session.client->totals().rate_limited == 1);
  CHECK(has(session.log, "slow down"));
  CHECK_FALSE(has(session.log, kKey));
}

TEST_CASE("what trying again does not mend is said at once, without the key") {
  Session session({error_answer(401, "bad key")});
  const auto answer = session.ask();
  REQUIRE_FALSE(answer);
  CHECK(has(answer.error().message, "401: bad key"));
  CHECK(has(answer.error().remedy, "key"));
  CHECK_FALSE(has(describe(answer.error()), kKey));
  CHECK(session.slept.empty());
}

TEST_CASE("attempts are counted, and the last failure is the error") {
  Session session({error_answer(500, "still broken")});
  session.config.attempts = 3;
  const auto answer = session.ask();
  REQUIRE_FALSE(answer);
  CHECK(has(answer.error().message, "still broken"));
  CHECK(session.server.seen().size() == 3);
  CHECK(session.client->totals().failures == 1);
}

TEST_CASE("a stream that breaks off, a body that is cut and one that is no HTTP are tried again") {
  Reply cut = streamed_answer({"half"});
  cut.pieces.resize(1);
  Reply dropped = cut;
  dropped.end = Reply::End::Cut;
  const Reply nonsense{
      .pieces = {"\x16\x03 what?\r\n\r\n"}, .end = Reply::End::Cut, .garbage = true};
  const Reply no_json{.type = "text/event-stream", .pieces = {"data: {oops\n\n"}};
  const Reply failed{.type = "text/event-stream",
                     .pieces = {"data: {\"error\": {\"message\": \"overloaded\"}}\n\n"}};
  Session session({cut, dropped, nonsense, no_json, failed, streamed_answer({"whole"})});
  const auto answer = session.ask();
  REQUIRE_MESSAGE(answer, (answer ? "" : describe(answer.error())));
  CHECK(answer->text == "whole");
  CHECK(session.client->totals().retries == 5);
  CHECK(has(session.log, "ended before the answer did"));
  CHECK(has(session.log, "overloaded"));
}

TEST_CASE("a server that falls silent is given up after the idle limit") {
  Reply silent = streamed_answer({"half"});
  silent.pieces.resize(1);
  silent.end = Reply::End::Hang;
  ChatServer server({silent});
  EndpointConfig config{.url = server.url(), .model = "m", .ca = server.ca()};
  auto transport = make_https(config, Secret(kKey));
  REQUIRE(transport);
  const auto answer = (*transport)
                          ->post({.path = "/chat/completions",
                                  .body = "{}",
                                  .idle = milliseconds(100),
                                  .total = milliseconds(20'000)},
                                 {}, {});
  REQUIRE_FALSE(answer);
  CHECK(has(answer.error().message, "did not answer in time"));
}

TEST_CASE("a request under way can be stopped") {
  Reply silent = streamed_answer({"half"});
  silent.pieces.resize(1);
  silent.end = Reply::End::Hang;
  ChatServer server({silent});
  EndpointConfig config{.url = server.url(), .model = "m", .ca = server.ca()};
  auto transport = make_https(config, Secret(kKey));
  REQUIRE(transport);
  std::stop_source stop;
  // The first piece stops it, from inside the call; the server stays silent.
  const auto answer =
      (*transport)
          ->post(
              {.path = "/x", .body = "{}", .stream = true},
              [&](std::string_view) { return stop.request_stop(); }, stop.get_token());
  REQUIRE_FALSE(answer);
  CHECK(has(answer.error().message, "stopped"));
}

TEST_CASE("a certificate that nobody signed is refused, and the key is never sent") {
  Session session({whole_answer("no")});
  session.config.ca.clear();
  session.config.attempts = 1;
  const auto answer = session.ask();
  REQUIRE_FALSE(answer);
  CHECK(has(answer.error().message, "certificate"));
  CHECK(session.server.seen().empty());
}

TEST_CASE("requests and tokens a minute are kept") {
  Session session({whole_answer("yes", 100, 20)});
  session.config.requests_per_minute = 2;
  CHECK(session.ask());
  CHECK(session.ask());
  CHECK(session.slept.empty());
  CHECK(session.ask());
  REQUIRE(session.slept.size() == 1);
  CHECK(session.slept[0] > milliseconds(59'000));

  Session tokens({whole_answer("yes", 900, 100)});
  tokens.config.tokens_per_minute = 1200;
  CHECK(tokens.ask());
  CHECK(tokens.slept.empty());
  CHECK(tokens.ask(std::string(900, 'x')));
  CHECK(tokens.slept.size() == 1);
}

TEST_CASE("the token budget ends the run before a request that it could not pay") {
  Session session({whole_answer("yes", 800, 100)});
  session.config.token_budget = 1500;
  CHECK(session.ask());
  const json body = json::parse(session.server.seen()[0].body);
  CHECK(body["max_tokens"].get<int>() < 1500);
  const auto second = session.ask(std::string(3000, 'x'));
  REQUIRE_FALSE(second);
  CHECK(has(second.error().message, "budget is spent: 900 of 1500"));
  CHECK(session.server.seen().size() == 1);
}

TEST_CASE("Retry-After is a number of seconds or a date") {
  const auto now = std::chrono::system_clock::from_time_t(1'000'000'000); // 2001-09-09 01:46:40
  CHECK(parse_retry_after("2.5", now) == milliseconds(2500));
  CHECK(parse_retry_after("Sun, 09 Sep 2001 01:46:50 GMT", now) == milliseconds(10'000));
  CHECK(parse_retry_after("Sun, 09 Sep 2001 01:46:30 GMT", now) == milliseconds(0));
  CHECK_FALSE(parse_retry_after("soon", now));
  CHECK_FALSE(parse_retry_after("", now));
  CHECK_FALSE(parse_retry_after("-3", now));
}

TEST_CASE("events may be cut anywhere") {
  std::string body = ": keep-alive\r\n\r\n";
  for (const std::string &piece : streamed_answer({"a\xe2\x82\xac", "b"}).pieces)
    body += piece;
  for (std::size_t size = 1; size < 9; ++size) {
    ChatStream stream;
    for (std::size_t at = 0; at < body.size(); at += size)
      stream.append(std::string_view(body).substr(at, size), {});
    const auto answer = stream.finish();
    REQUIRE(answer);
    CHECK(answer->text == "a\xe2\x82\xac"
                          "b");
    CHECK(stream.usage()->prompt_tokens == 11);
  }
}

TEST_CASE("prices turn tokens into money, and a spent money budget ends the run") {
  Session session({streamed_answer({"a"})}); // 11 and 7 tokens an answer
  session.config.prompt_price = 1e6;
  session.config.answer_price = 2e6;
  session.config.money_budget = 50;
  REQUIRE(session.ask());
  CHECK(*session.client->cost() == doctest::Approx(25));
  REQUIRE(session.ask());
  const auto spent = session.ask();
  REQUIRE_FALSE(spent);
  CHECK(has(describe(spent.error()), "50.00 of 50.00"));
  CHECK(session.server.seen().size() == 2);
}

TEST_CASE(
    "an endpoint without structured output is asked again without a schema, and never with one") {
  Session session({error_answer(400, "response_format is not supported"), whole_answer("{}")});
  session.config.stream = false;
  auto transport = make_https(session.config, Secret(kKey));
  REQUIRE(transport);
  session.client = std::make_unique<ChatClient>(session.config, std::move(*transport),
                                                std::make_unique<FakeClock>(session.slept), 1);
  session.client->require({{"type", "object"}});
  REQUIRE(session.ask());
  REQUIRE(session.ask());
  const auto seen = session.server.seen();
  REQUIRE(seen.size() == 3);
  CHECK(has(seen[0].body, "response_format"));
  CHECK_FALSE(has(seen[1].body, "response_format"));
  CHECK_FALSE(has(seen[2].body, "response_format"));
  CHECK(session.slept.empty());
}

TEST_CASE("structured output is asked for by a schema, and without prices there is no cost") {
  Session session({whole_answer("{}")});
  REQUIRE(session.ask());
  CHECK_FALSE(json::parse(session.server.seen()[0].body).contains("response_format"));
  CHECK_FALSE(session.client->cost());
  session.client->require({{"type", "object"}});
  REQUIRE(session.ask());
  const json format = json::parse(session.server.seen()[1].body)["response_format"];
  CHECK(format["type"] == "json_schema");
  CHECK(format["json_schema"]["schema"] == json{{"type", "object"}});
}
