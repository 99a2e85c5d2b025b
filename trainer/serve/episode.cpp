#include "trainer/serve/episode.h"

#include "support/hash.h"
#include "support/log.h"
#include "support/model/json.h"
#include "support/words.h"
#include "trainer/endpoint/measured_text.h"
#include "trainer/endpoint/prompt.h"
#include "trainer/policy/exemplars.h"
#include "trainer/ranker/source_shape.h"
#include "trainer/records/measured_json.h"
#include "trainer/serve/message.h"
#include "trainer/serve/observation.h"
#include "trainer/tasks/split_names.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

constexpr int kMostTurns = 64;
constexpr std::size_t kLongestId = 255;

constexpr const char *kMovesSystem =
    R"text(You choose edits of one CUDA kernel, or choices in one PyTorch module's plan, and compete on measured time.

Each edit is a move with parameters. A move is legal in its place only; the list below has the legal first moves, and more may become
legal after them. A runner applies the moves, verifies the result and measures it against the reference.

Answer with one JSON object and nothing else: {"moves": ["name(parameter=value)", ...]}, in the order in which they are applied.)text";

std::vector<ChatMessage> moves_prompt(std::vector<ChatMessage> prompt, const Moves &legal) {
  prompt.front().content = kMovesSystem;
  prompt.back().content += "\nLegal first moves:\n" + fenced("", joined(legal, "\n"));
  return prompt;
}

Result<void> read_text(const Json &data, const char *name, std::string &value) {
  const Json found = data.value(name, Json());
  if (found.is_null())
    return {};
  if (!found.is_string() || found.get_ref<const std::string &>().size() > kLongestId)
    return fail(std::string("`") + name + "` must be a text of at most 255 bytes");
  value = found;
  return {};
}

} // namespace

std::optional<AnswerForm> answer_form_named(std::string_view name) {
  return name == "text"    ? std::optional(AnswerForm::Text)
         : name == "plan"  ? std::optional(AnswerForm::Plan)
         : name == "moves" ? std::optional(AnswerForm::Moves)
                           : std::nullopt;
}

Result<EpisodeRequest> episode_request_from(const Json &data) {
  if (!data.is_object())
    return fail("the parameters of `reset` are not an object");
  EpisodeRequest request;
  TRY(read_text(data, "task_id", request.task_id));
  TRY(read_text(data, "episode_id", request.episode_id));
  const Json seed = data.value("seed", Json()), turns = data.value("turns", Json());
  if (!seed.is_null() && !seed.is_number_unsigned())
    return fail("`seed` must be a whole number of at least 0");
  if (!seed.is_null())
    request.seed = seed.get<std::uint64_t>();
  if (!turns.is_null() && (!turns.is_number_unsigned() || turns < 1u || turns > unsigned(kMostTurns)))
    return fail("`turns` must be a whole number in 1..64");
  if (!turns.is_null())
    request.turns = turns.get<int>();
  std::string form = "text";
  TRY(read_text(data, "answers", form));
  const auto named = answer_form_named(form);
  if (!named)
    return fail("`answers` is \"" + form + "\"; there are text, plan and moves");
  request.answers = *named;
  const Json resume = data.value("resume", Json(false));
  if (!resume.is_boolean())
    return fail("`resume` is neither true nor false");
  request.resume = resume;
  return request;
}

Json to_json(const std::vector<ChatMessage> &messages) {
  Json list = Json::array();
  for (const ChatMessage &message : messages)
    list.push_back({{"role", message.role}, {"content", message.content}});
  return list;
}

Result<std::unique_ptr<Episode>> Episode::open(std::string id, std::string client,
                                               const TrainingTask &task,
                                               const EpisodeRequest &request, const Place &place) {
  std::unique_ptr<Episode> episode(new Episode(std::move(id), std::move(client), task, place));
  episode->view_ = TRY(place.environment.open(task));
  episode->definition_ = TRY(model::task_from_json(episode->view_.definition));
  episode->form_ = request.answers;
  episode->turns_ = request.turns.value_or(place.config.turns);
  TRY(episode->make_prompt(request));
  episode->last_ = {episode->frame(), std::nullopt, false, false, std::nullopt};
  return episode;
}

Result<void> Episode::make_prompt(const EpisodeRequest &request) {
  if (request.seen) {
    messages_ = *request.seen;
    return {};
  }
  const auto known = place_.exemplars.original_of(task_.id);
  if (known)
    view_.original = known;
  constexpr std::size_t kSeedDigits = 15;
  std::mt19937_64 random(request.seed ? *request.seed
                                      : std::stoull(sha256_hex(id_).substr(0, kSeedDigits), nullptr, 16));
  std::vector<Exemplar> tried = place_.exemplars.of(task_.id);
  if (view_.original)
    tried.push_back({{}, *view_.original, {}});
  shown_ = choose_exemplars(tried, {}, random);
  PromptParts parts{.task = definition_,
                    .device = place_.environment.device(),
                    .original = view_.original,
                    .versions = {},
                    .refused = {},
                    .graph = view_.graph};
  for (const Exemplar &exemplar : shown_)
    parts.versions.push_back(prompt_version(exemplar, task_, place_.environment));
  messages_ = contrastive_prompt(parts);
  if (form_ == AnswerForm::Moves) {
    legal_ = TRY(place_.environment.state(task_, {})).legal;
    messages_ = moves_prompt(std::move(messages_), legal_);
  }
  return {};
}

Json Episode::frame() const {
  Json observation{{"task_id", task_.id},
                   {"split", split_text(task_.split)},
                   {"episode_id", id_},
                   {"turn", turn_},
                   {"turns_left", turns_ - turn_},
                   {"prompt", to_json(messages_)},
                   {"exemplars", exemplar_list(shown_)},
                   {"best", place_.exemplars.best(task_.id)}};
  if (form_ == AnswerForm::Moves)
    observation["legal"] = legal_;
  return observation;
}

Result<Turn> Episode::step(const Action &action) {
  if (is_done())
    return fail("the episode " + id_ + " is done", "Send reset");
  best_ = place_.exemplars.best(task_.id);
  const Judged judged =
      judge({task_, definition_, int(shown_.size()), form_ == AnswerForm::Moves}, action, place_);
  const std::vector<ChatMessage> prompt = messages_;
  if (!judged.lost) {
    ++turn_;
    remember(judged);
    messages_.push_back({"assistant", content_of(action)});
    messages_.push_back({"user", feedback_of(judged)});
  }
  Turn turn{frame(), reward_of(judged), is_done(), judged.measured.has_value(), judged.lost};
  turn.observation.update(verdict_members(judged));
  turn.observation["hashes"] = hashes_of(judged);
  turn.observation["feedback"] = feedback_of(judged);
  write(action, judged, turn, prompt);
  last_ = turn;
  return turn;
}

std::optional<double> Episode::reward_of(const Judged &judged) const {
  if (judged.refused)
    return kFailureReward;
  return judged.measured ? environment_reward(*judged.measured, place_.rule, best_) : std::nullopt;
}

void Episode::remember(const Judged &judged) {
  if (judged.verdict && judged.verdict->reference_time)
    place_.exemplars.set_original(task_.id, original_of(*judged.verdict));
  // Host code is no exemplar: prompts ask for plans.
  if (judged.measured && (!judged.plan || !model::is_host_code(*judged.plan)))
    place_.exemplars.add(task_.id, {judged.moves, *judged.measured,
                                    judged.plan ? model::to_json(*judged.plan).dump() : ""});
}

Json Episode::hashes_of(const Judged &judged) const {
  Json hashes{{"task", model::hash(definition_)},
              {"source", source_shape(task_.text, task_.language == kTorchLanguage)}};
  if (judged.plan)
    hashes["plan"] = model::hash(*judged.plan);
  return hashes;
}

void Episode::write(const Action &action, const Judged &judged, const Turn &turn,
                  const std::vector<ChatMessage> &prompt) {
  const Json messages = to_json(prompt);
  Json line{{"client", client_},
            {"episode", id_},
            {"turn", turn_},
            {"turns", turns_},
            {"done", turn.done},
            {"task", task_.id},
            {"family", task_.family},
            {"language", task_.language},
            {"split", split_text(task_.split)},
            {"messages", messages},
            {"prompt_hash", sha256_hex(messages.dump()).substr(0, 16)},
            {"action", to_json(action)},
            {"content", content_of(action)},
            {"measured", turn.measured},
            {"reward_rule", place_.config.reward},
            {"reward_version", kRewardVersion},
            {"hashes", turn.observation.at("hashes")}};
  for (const char *name : {"refused", "failed_check"})
    if (turn.observation.contains(name))
      line[name] = turn.observation.at(name);
  if (!action.request_id.empty())
    line["request_id"] = action.request_id;
  if (!action.usage.is_null())
    line["usage"] = action.usage;
  if (!judged.moves.empty())
    line["moves"] = judged.moves;
  if (judged.plan)
    line["plan"] = model::to_json(*judged.plan);
  if (judged.measured)
    line["verdict"] = to_json(*judged.measured);
  if (judged.verdict) {
    line["driver"] = judged.verdict->device.driver;
    line["host_code"] = judged.verdict->host_code;
  }
  if (turn.reward)
    line["reward"] = *turn.reward;
  if (const auto device = place_.environment.device())
    line["device"] = device_key(*device);
  if (auto written = place_.log.write(std::move(line)); !written)
    log::error("a step is not in the log", {{"reason", describe(written.error())}});
}

Json Episode::state() const {
  return {{"episode_id", id_},    {"step_count", turn_},
          {"task_id", task_.id},  {"turns", turns_},
          {"best", place_.exemplars.best(task_.id)}, {"done", is_done()}};
}

} // namespace warpwright::trainer
