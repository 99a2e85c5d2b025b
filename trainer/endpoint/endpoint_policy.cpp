#include "trainer/endpoint/endpoint_policy.h"

#include "support/model/json.h"
#include "support/words.h"
#include "trainer/endpoint/measured_text.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kBetweenReports{500};
constexpr std::size_t kTokenBytes = 4; ///< of English text and code, about

/// "41235 of 2000000 tokens, costs 0.12 of 1.00".
std::string spent_text(const ChatClient &client) {
  const auto of = [](const std::string &limit) { return limit.empty() ? "" : " of " + limit; };
  const EndpointConfig &config = client.config();
  const ChatTotals &spent = client.totals();
  std::string text = std::to_string(spent.prompt_tokens + spent.answer_tokens) +
                     of(config.token_budget ? std::to_string(config.token_budget) : "") + " tokens";
  if (const auto cost = client.cost())
    text += ", costs " + printed("%.2f", *cost) +
            of(config.money_budget > 0 ? printed("%.2f", config.money_budget) : "");
  return text;
}

/// Returns the start of a reason, without its line number, as a key for counts.
std::string head_of(const std::string &reason) {
  return reason.substr(0, reason.find(" (line")).substr(0, 80);
}

/// The last version of a session, if it is code of the model that no exemplar shows: it failed, or it was not drawn.
std::optional<PromptVersion> last_of(const Context &context, Environment &environment) {
  if (context.tried.empty() || context.tried.back().plan.empty() || context.tried.back().pending ||
      !context.tried.back().refused.empty())
    return std::nullopt;
  const Exemplar &last = context.tried.back();
  for (const Exemplar &shown : context.exemplars)
    if (shown.plan == last.plan)
      return std::nullopt;
  return prompt_version(last, context.task, environment);
}

/// What happened to an answer, as the next message; the request to go on is at its end.
std::string feedback_on(const Exemplar &version) {
  if (!version.refused.empty())
    return refusal_text(version.refused);
  return version.verdict ? feedback_text(*version.verdict) : feedback_text(version.measured);
}

} // namespace

int AnswerCounts::answers() const {
  int sum = 0;
  for (const auto &[kind, count] : kinds)
    sum += count;
  return sum;
}

int AnswerCounts::refused() const {
  const auto usable = kinds.find(AnswerKind::Usable);
  return answers() - (usable == kinds.end() ? 0 : usable->second);
}

EndpointPolicy::EndpointPolicy(std::unique_ptr<ChatClient> client, ChatClient::Log log)
    : client_(std::move(client)), log_(std::move(log)) {
  if (client_->config().json_schema)
    client_->require(answer_schema());
}

EndpointPolicy::~EndpointPolicy() {
  if (log_ && counts_.answers() > 0)
    log_(summary());
}

/// Appends the feedback on the turn's answers, if all of them are judged.
EndpointPolicy::Next EndpointPolicy::go_on(Talk &talk, const Context &context) const {
  if (talk.messages.empty())
    return Next::Begin;
  if (std::ssize(talk.draws) < client_->config().answers)
    return Next::Ask;
  std::vector<Exemplar> judged;
  for (const Draw &draw : talk.draws) {
    const auto known = std::ranges::find_if(context.tried, [&](const Exemplar &version) {
      return version.plan == draw.answer && version.moves == draw.moves &&
             (!draw.answer.empty() || !draw.moves.empty());
    });
    if (!draw.refused.empty())
      judged.emplace_back().refused = draw.refused;
    else if (known == context.tried.end())
      return Next::Begin;
    else if (known->pending)
      return Next::Wait;
    else
      judged.push_back(*known);
  }
  if (++talk.turn >= client_->config().turns)
    return Next::Begin;
  const auto best = std::ranges::max_element(judged, {}, [](const Exemplar &version) {
    return version.refused.empty() ? score_of(version.measured).value_or(0) : -1;
  });
  std::string others;
  for (auto other = judged.begin(); other != judged.end(); ++other)
    if (other != best)
      others +=
          "Your other answer: " +
          (other->refused.empty() ? score_text(other->measured) : "unusable, " + other->refused) +
          "\n";
  talk.messages.push_back({"assistant", talk.draws[std::size_t(best - judged.begin())].text});
  talk.messages.push_back({"user", others + feedback_on(*best)});
  talk.draws.clear();
  return Next::Ask;
}

/// Begins a conversation.
Result<void> EndpointPolicy::begin(Talk &talk, const model::Task &task, const Context &context,
                                   Environment &environment) const {
  const std::string refusal = talk.draws.empty() ? "" : talk.draws.back().refused;
  PromptParts parts{.task = task,
                    .device = context.device,
                    .original = context.view.original,
                    .versions = {},
                    .refused = refusal,
                    .last = last_of(context, environment),
                    .as_object = client_->config().json_schema,
                    .graph = context.view.graph,
                    .plan = context.view.plan};
  for (const Exemplar &exemplar : context.exemplars)
    if (parts.versions.size() < 2)
      parts.versions.push_back(prompt_version(exemplar, context.task, environment));
  talk = {};
  talk.messages = contrastive_prompt(parts);
  talk.versions = static_cast<int>(parts.versions.size());
  talk.base = parts.plan ? parts.plan->id : "";
  return {};
}

Result<ChatAnswer> EndpointPolicy::ask(const Talk &talk, const Context &context) {
  std::size_t bytes = 0;
  auto told_at = std::chrono::steady_clock::now() - kBetweenReports;
  const auto on_text = [&](std::string_view piece) {
    bytes += piece.size();
    const auto now = std::chrono::steady_clock::now();
    if (!context.told || now - told_at < kBetweenReports)
      return;
    told_at = now;
    context.told(client_->config().model + " writes, about " +
                 std::to_string(bytes / kTokenBytes + 1) +
                 " tokens so far; before: " + spent_text(*client_));
  };
  if (context.told)
    context.told("waiting for " + client_->config().model + "; before: " + spent_text(*client_));
  return client_->complete(talk.messages, on_text, context.stop);
}

ParsedAnswer EndpointPolicy::counted(ParsedAnswer parsed, const ChatAnswer &answer) {
  if (parsed.kind == AnswerKind::Malformed && answer.finish == "length")
    parsed.refused += "; it was cut off at the longest answer allowed, so write less";
  ++counts_.kinds[parsed.kind];
  if (!parsed.refused.empty())
    ++counts_.reasons[head_of(parsed.refused)];
  return parsed;
}

Result<Proposal> EndpointPolicy::propose(const Context &context, Environment &environment) {
  const auto started = std::chrono::steady_clock::now();
  const auto task = TRY(model::task_from_json(context.view.definition));
  Talk &talk = talks_[context.task.id];
  const Next next = go_on(talk, context);
  if (next == Next::Wait)
    return Proposal{.waits = true};
  if (next == Next::Begin)
    TRY(begin(talk, task, context, environment));
  const auto answer = TRY(ask(talk, context));
  ParsedAnswer parsed =
      counted(parse_answer(answer.text, task, talk.versions, !talk.base.empty()), answer);
  Proposal proposal;
  proposal.plan = std::move(parsed.plan);
  proposal.moves = std::move(parsed.moves);
  proposal.regions = std::move(parsed.regions);
  proposal.base = talk.base;
  proposal.analysis = std::move(parsed.analysis);
  proposal.refused = std::move(parsed.refused);
  talk.draws.push_back({answer.text, proposal.refused, proposal.moves,
                        proposal.plan || !proposal.regions.empty() ? answer_text(proposal) : ""});
  proposal.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return proposal;
}

json EndpointPolicy::account() const {
  json answers = json::object(), reasons = json::object();
  for (const auto &[kind, count] : counts_.kinds)
    answers[trainer::name(kind)] = count;
  for (const auto &[reason, count] : counts_.reasons)
    reasons[reason] = count;
  const ChatTotals &spent = client_->totals();
  json cost = client_->cost() ? json(*client_->cost()) : json();
  return {{"model", client_->config().model},
          {"spent", spent_text(*client_)},
          {"answers", answers},
          {"cost", std::move(cost)},
          {"reasons", reasons},
          {"prompt_tokens", spent.prompt_tokens},
          {"answer_tokens", spent.answer_tokens},
          {"estimated", spent.estimated},
          {"requests", spent.requests},
          {"retries", spent.retries},
          {"rate_limited", spent.rate_limited},
          {"failures", spent.failures},
          {"waited_s", spent.waited_s}};
}

std::string EndpointPolicy::summary() const {
  std::string text = std::to_string(counts_.answers()) + " answers of " + client_->config().model;
  const char *separator = ": ";
  for (const auto &[kind, count] : counts_.kinds) {
    text += separator + std::to_string(count) + " " + trainer::name(kind);
    separator = ", ";
  }
  const ChatTotals &spent = client_->totals();
  return text + "; " + std::to_string(spent.prompt_tokens + spent.answer_tokens) + " tokens" +
         (spent.estimated ? " (partly estimated)" : "") +
         (client_->cost() ? "; costs " + printed("%.2f", *client_->cost()) : "") + "; " + std::to_string(spent.retries) +
         " retries, " + std::to_string(spent.rate_limited) + " times rate limited";
}

Result<std::unique_ptr<EndpointPolicy>>
make_endpoint_policy(const EndpointConfig &config, std::uint64_t seed, ChatClient::Log log) {
  auto key = TRY(load_key(config));
  auto transport = TRY(make_https(config, std::move(key)));
  return std::make_unique<EndpointPolicy>(
      std::make_unique<ChatClient>(config, std::move(transport), make_real_clock(), seed, log),
      log);
}

} // namespace warpwright::trainer
