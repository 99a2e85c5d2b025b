#include "trainer/endpoint/endpoint_policy.h"

#include "support/model/json.h"
#include "support/words.h"

namespace warpwright::trainer {
namespace {

using nlohmann::json;

/// Returns the start of a reason, without its line number, as a key for counts.
std::string head_of(const std::string &reason) {
  return reason.substr(0, reason.find(" (line")).substr(0, 80);
}

/// The last version of a session, if it is a plan of the model that no exemplar shows: it failed, or it was not drawn.
std::optional<PromptVersion> last_of(const Context &context, Environment &environment) {
  if (context.tried.empty() || context.tried.back().plan.empty())
    return std::nullopt;
  const Exemplar &last = context.tried.back();
  for (const Exemplar &shown : context.exemplars)
    if (shown.plan == last.plan)
      return std::nullopt;
  return prompt_version(last, context.task, environment);
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

EndpointPolicy::EndpointPolicy(std::unique_ptr<ChatClient> client, std::string model,
                               ChatClient::Log log, bool as_object)
    : client_(std::move(client)), model_(std::move(model)), log_(std::move(log)),
      as_object_(as_object) {
  if (as_object_)
    client_->require(answer_schema());
}

EndpointPolicy::~EndpointPolicy() {
  if (log_ && counts_.answers() > 0)
    log_(summary());
}

Result<Proposal> EndpointPolicy::propose(const Context &context, Environment &environment) {
  const auto started = std::chrono::steady_clock::now();
  auto task = TRY(model::task_from_json(context.view.definition));
  std::string &refusal = last_refusal_[context.task.id];
  PromptParts parts{.task = task,
                    .device = context.device,
                    .original = context.view.original,
                    .versions = {},
                    .refused = refusal,
                    .last = last_of(context, environment),
                    .as_object = as_object_,
                    .graph = context.view.graph};
  for (const Exemplar &exemplar : context.exemplars)
    if (parts.versions.size() < 2)
      parts.versions.push_back(prompt_version(exemplar, context.task, environment));
  auto answer = TRY(client_->complete(contrastive_prompt(parts), {}, stop_.get_token()));
  ParsedAnswer parsed = parse_answer(answer.text, task, static_cast<int>(parts.versions.size()));
  if (parsed.kind == AnswerKind::Malformed && answer.finish == "length")
    parsed.refused += "; it was cut off at the longest answer allowed, so write less";
  ++counts_.kinds[parsed.kind];
  if (!parsed.refused.empty())
    ++counts_.reasons[head_of(parsed.refused)];
  refusal = parsed.refused;
  Proposal proposal;
  proposal.plan = std::move(parsed.plan);
  proposal.analysis = std::move(parsed.analysis);
  proposal.refused = std::move(parsed.refused);
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
  return {{"model", model_},
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
  std::string text = std::to_string(counts_.answers()) + " answers of " + model_;
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
      config.model, log, config.json_schema);
}

} // namespace warpwright::trainer
