// The environment service below its protocols: rewards, turns of the queue, the exemplar store,
// messages, exports.
#include "support/files.h"
#include "tests/trainer/temporary_folder.h"
#include "trainer/endpoint/measured_text.h"
#include "trainer/serve/action.h"
#include "trainer/serve/exemplar_store.h"
#include "trainer/serve/export_command.h"
#include "trainer/serve/fair_queue.h"
#include "trainer/serve/message.h"
#include "trainer/serve/nemo_gym.h"
#include "trainer/policy/reward.h"
#include "trainer/records/measured_json.h"

#include <doctest/doctest.h>
#include <future>

using namespace warpwright;
using namespace warpwright::trainer;
using Json = nlohmann::json;

namespace {

Measured timed(double low, double high) {
  Measured measured;
  measured.outcome = model::Outcome::Verified;
  measured.speedup = MeasuredRatio{(low + high) / 2, low, high, 20};
  return measured;
}

Measured failed(model::Outcome outcome) {
  Measured measured;
  measured.outcome = outcome;
  return measured;
}

Json trajectory(const std::string &content, const Measured &measured, const Json &more = Json::object()) {
  Json line{{"warpwright_trajectory", 1},
            {"task", "a"},
            {"split", "training"},
            {"prompt_hash", "p"},
            {"content", content},
            {"messages", Json::array({Json{{"role", "user"}, {"content", "faster"}}})},
            {"hashes", {{"source", "0123456789abcdef"}}},
            {"verdict", to_json(measured)}};
  line.update(more);
  return line;
}

/// Exports lines; the examples, or the error's text.
std::string exported(const std::vector<Json> &lines, ExportOptions options = {}) {
  const testing::TemporaryFolder folder;
  std::string text;
  for (const Json &line : lines)
    text += line.dump() + "\n";
  options.files = {folder.write("trajectories.jsonl", text + "{\"torn")};
  options.to = folder.path / "chat.jsonl";
  if (!options.excluded.empty())
    options.excluded = folder.write("excluded.txt", options.excluded);
  const auto done = run_export(options);
  return done ? *read_file(options.to) : describe(done.error());
}

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("rewards order cheats, failures, slow and fast answers, and are absent where nothing was measured") {
  const auto reward = [](const Measured &measured) { return environment_reward(measured, RewardRule::Speedup, 1); };
  CHECK_FALSE(reward(failed(model::Outcome::Unsupported)));
  CHECK_FALSE(reward(failed(model::Outcome::Verified))); // the CPU backend gives no times
  CHECK(*reward(failed(model::Outcome::SuspectedCheat)) < *reward(failed(model::Outcome::WrongResult)));
  CHECK(*reward(failed(model::Outcome::Crash)) < *reward(timed(1e-6, 1e-6)));
  CHECK(*reward(timed(0.5, 0.6)) < *reward(timed(1, 1)));
  CHECK(*reward(timed(1, 1)) == doctest::Approx(0));
  CHECK(*reward(timed(2, 9)) == doctest::Approx(std::log(2))); // the interval's lower end
  CHECK(*reward(timed(1e9, 1e9)) == kMostReward);
}

TEST_CASE("the rule gain pays for an improvement of the task's best, the rule verified for being right") {
  CHECK(*environment_reward(timed(2, 2), RewardRule::Gain, 1.5) == doctest::Approx(std::log(2 / 1.5)));
  CHECK(*environment_reward(timed(2, 2), RewardRule::Gain, 3) == 0);
  CHECK(*environment_reward(failed(model::Outcome::Verified), RewardRule::Verified, 1) == 1);
  CHECK(*environment_reward(failed(model::Outcome::Timeout), RewardRule::Verified, 1) == kFailureReward);
}

TEST_CASE("clients take turns in the queue, and one may not fill it") {
  std::vector<std::string> order;
  {
    FairQueue queue(1);
    std::promise<void> begun, gate, done;
    REQUIRE(queue.submit("first", 8, [&] {
      begun.set_value();
      gate.get_future().wait();
    }));
    begun.get_future().wait();
    for (int i = 0; i < 3; ++i)
      CHECK(queue.submit("many", 3, [&] { order.push_back("many"); }));
    CHECK_FALSE(queue.submit("many", 3, [&] { order.push_back("too many"); }));
    CHECK(queue.submit("one", 3, [&] { order.push_back("one"); }));
    CHECK(queue.submit("last", 3, [&] { order.push_back("last"); }));
    queue.submit("many", 4, [&] { done.set_value(); });
    gate.set_value();
    done.get_future().wait();
  }
  CHECK(order == std::vector<std::string>{"many", "one", "last", "many", "many"});
}

TEST_CASE("the store keeps different versions, and drops middling ones first") {
  ExemplarStore store;
  store.add("a", {{"x()"}, timed(2, 2), ""});
  store.add("a", {{"x()"}, timed(3, 3), ""});
  CHECK(store.of("a").size() == 1);
  CHECK(store.best("a") == 2);
  CHECK(store.best("b") == 1);
  for (int i = 1; i <= 400; ++i)
    store.add("c", {{}, timed(i, i), std::to_string(i)});
  CHECK(store.of("c").size() == 256);
  CHECK(store.best("c") == 400);
  CHECK(std::ranges::any_of(store.of("c"), [](const Exemplar &version) { return version.plan == "1"; }));
}

TEST_CASE("messages are read within limits") {
  CHECK(parse_message("{\"a\": [1, \"[[\\\"[\"]}"));
  CHECK(has(parse_message(std::string(65, '[') + std::string(65, ']')).error().message, "deeper"));
  CHECK(has(parse_message("{").error().message, "not JSON"));
  CHECK(message_text("\xff") == "\"\xEF\xBF\xBD\"");
}

TEST_CASE("actions are read strictly, and are the same after a round trip") {
  for (const char *text : {R"({"kind": "text", "text": "a"})", R"({"kind": "plan", "plan": {}})",
                           R"json({"kind": "moves", "moves": ["a()"]})json",
                           R"({"kind": "module", "source": "s", "model": "M"})"})
    CHECK(to_json(*action_from_json(Json::parse(text))) == Json::parse(text));
  const auto named = action_from_json(Json::parse(R"({"kind": "text", "text": "", "metadata": {"request_id": "r", "usage": 3}})"));
  CHECK(named->request_id == "r");
  CHECK(named->usage == 3);
  for (const char *text : {"3", "{}", R"({"kind": "text"})", R"({"kind": "text", "text": 3})",
                           R"({"kind": "text", "text": "", "plan": {}})", R"({"kind": "plan", "plan": []})",
                           R"({"kind": "moves", "moves": [3]})", R"({"kind": "text", "text": "", "metadata": 3})"})
    CHECK_FALSE(action_from_json(Json::parse(text)));
}

TEST_CASE("Gym's response gives the assistant's text, without reasoning and calls") {
  const Json response = Json::parse(R"({"output": [{"type": "reasoning", "summary": []},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}, {"type": "refusal"}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "no"}]},
    {"type": "message", "role": "assistant", "content": "b"}, 3]})");
  CHECK(assistant_text(response) == "ab");
  CHECK_FALSE(assistant_text(Json{{"output", Json::array()}}));
  CHECK_FALSE(assistant_text(3));
  const auto seen = input_messages(Json::parse(R"({"input": [{"role": "user", "content": "a"}, {"role": "user", "content": []}, 3]})"));
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].content == "a");
  CHECK(input_messages(Json{{"input", "b"}}).at(0).role == "user");
  CHECK(input_messages(3).empty());
  const Json metrics = reward_metrics(Json::parse(R"([{"reward": 1}, {"reward": -2}, {"reward": 0, "mask_sample": true}, 3])"));
  CHECK(metrics == Json{{"count", 2}, {"masked", 1}, {"mean/reward", -0.5}, {"min/reward", -2.0}, {"max/reward", 1.0}});
}

TEST_CASE("an export has the best different answers of a task, and neither failures nor slow ones") {
  const std::string text = exported({trajectory("good", timed(2, 2)), trajectory("good", timed(2, 2)),
                                     trajectory("better", timed(3, 3)), trajectory("slow", timed(0.5, 0.5)),
                                     trajectory("wrong", failed(model::Outcome::WrongResult)),
                                     trajectory("refused", timed(9, 9), {{"refused", {{"kind", "malformed"}}}})});
  CHECK(std::ranges::count(text, '\n') == 2);
  CHECK(text.find("better") < text.find("good"));
  CHECK(std::ranges::count(exported({trajectory("good", timed(2, 2)), trajectory("better", timed(3, 3))}, {.best = 1}), '\n') == 1);
}

TEST_CASE("an export leaves out other splits, host code, excluded sources and answers without a verdict") {
  Json unmeasured = trajectory("none", timed(2, 2));
  unmeasured.erase("verdict");
  for (const Json &line : {trajectory("a", timed(2, 2), {{"split", "held-out"}}),
                           trajectory("a", timed(2, 2), {{"host_code", true}}), unmeasured})
    CHECK(has(exported({line}), "no example"));
  CHECK(has(exported({trajectory("a", timed(2, 2))}, {.excluded = "0123456789abcdef level1/a.py\n"}), "no example"));
  CHECK(has(exported({Json{{"event", "step"}}}), "line 1 is no trajectory"));
}

TEST_CASE("pairs are a better and a worse answer to one prompt") {
  const std::string text = exported({trajectory("good", timed(2, 2)), trajectory("wrong", failed(model::Outcome::Crash)),
                                     trajectory("elsewhere", failed(model::Outcome::Crash), {{"prompt_hash", "q"}})},
                                    {.pairs = true});
  REQUIRE(std::ranges::count(text, '\n') == 1);
  const Json pair = Json::parse(text);
  CHECK(pair["chosen"][0]["content"] == "good");
  CHECK(pair["rejected"][0]["content"] == "wrong");
  CHECK(pair["prompt"][0]["role"] == "user");
}

TEST_CASE("a text cannot leave its fenced block, and feedback names the first failed check") {
  CHECK(fenced("cuda", "a\n```\n````\nb") == "`````cuda\na\n```\n````\nb\n`````\n");
  model::Verdict verdict;
  verdict.outcome = model::Outcome::WrongResult;
  verdict.message = "y[3] is 1, expected 2";
  verdict.checks = {{"compiles", true, ""}, {"results", false, "y[3] is 1, expected 2"}, {"later", false, ""}};
  verdict.kernels = {{.kernel = "k", .registers = 32, .log = "warning: x"}};
  const std::string text = feedback_text(verdict);
  for (const char *part : {"wrong_result", "First failed check: results: y[3]", "warning: x", "32 registers"})
    CHECK(has(text, part));
  CHECK_FALSE(has(text, "later"));
  CHECK(has(refusal_text("no plan"), "could not be used: no plan"));
}
