#include "trainer/serve/judging.h"

#include "support/model/json.h"
#include "trainer/endpoint/answer.h"
#include "trainer/serve/message.h"

#include <algorithm>
#include <chrono>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

Judged refused(std::string kind, std::string reason) {
  Judged judged;
  judged.refused = Refusal{std::move(kind), std::move(reason)};
  return judged;
}

Judged verified(const JudgedTask &task, model::Plan plan, const Place &place) {
  constexpr int kTries = 3;
  const auto started = Clock::now();
  Judged judged;
  auto verdict = place.environment.verify(task.task, plan, place.config.host_code, place.stop);
  for (int i = 1; i < kTries && !verdict && !place.stop.stop_requested(); ++i)
    verdict = place.environment.verify(task.task, plan, place.config.host_code, place.stop);
  if (verdict) {
    judged.measured =
        cut_down(*verdict, std::chrono::duration<double>(Clock::now() - started).count());
    judged.verdict = std::move(*verdict);
  } else {
    judged.lost = verdict.error();
  }
  judged.plan = std::move(plan);
  return judged;
}

/// A move that is illegal where it stands; nullopt: none is. Errors: the environment's.
Result<std::optional<std::string>> illegal_move(const TrainingTask &task, const Moves &moves,
                                                Environment &environment) {
  Moves before;
  for (const std::string &move : moves) {
    const auto state = TRY(environment.state(task, before));
    if (std::ranges::find(state.legal, move) == state.legal.end())
      return std::optional(move);
    before.push_back(move);
  }
  return std::optional<std::string>();
}

Judged judge_moves(const JudgedTask &task, const Moves &moves, const Place &place) {
  Judged judged;
  const auto illegal = illegal_move(task.task, moves, place.environment);
  if (illegal && *illegal)
    return refused("illegal_moves", "the move " + **illegal + " is not legal in its place");
  if (illegal && moves.empty())
    return refused("illegal_moves", "there is no move");
  auto measured = illegal ? place.environment.measure(task.task, moves, place.stop)
                          : Result<Measured>(std::unexpected(illegal.error()));
  if (measured)
    judged.measured = std::move(*measured);
  else
    judged.lost = measured.error();
  judged.moves = moves;
  return judged;
}

Judged judge_plan(const JudgedTask &task, const Json &document, const Place &place) {
  if (auto valid = model::validate(document, model::Schema::Plan); !valid)
    return refused("bad_plan", describe(valid.error()));
  auto plan = model::proposed_plan_from_json(document);
  if (!plan)
    return refused("bad_plan", describe(plan.error()));
  if (model::is_host_code(*plan))
    return refused("host_code", "the plan is a module, which is host code; "
                                "an answer of the kind \"module\" is judged where the service allows it");
  if (auto fits = model::check_plan(*plan, task.definition); !fits)
    return refused("bad_plan", describe(fits.error()));
  return verified(task, std::move(*plan), place);
}

Judged judge_module(const JudgedTask &task, const ModuleAnswer &answer, const Place &place) {
  if (!place.config.host_code)
    return refused("host_code", "this service takes no host code; answer with a plan");
  if (!task.definition.module)
    return refused("host_code", "a module answers a module only, and this task is a kernel");
  model::Plan plan;
  plan.steps.push_back(model::ModuleStep{.source = answer.source, .model = answer.model});
  if (auto fits = model::check_plan(plan, task.definition); !fits)
    return refused("bad_plan", describe(fits.error()));
  return verified(task, std::move(plan), place);
}

/// The JSON object {"moves": [..]} in a text; nullopt: there is none.
std::optional<Moves> moves_in(const std::string &text) {
  const std::size_t begin = text.find('{'), end = text.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    return std::nullopt;
  auto document = parse_message(std::string_view(text).substr(begin, end - begin + 1));
  if (!document || !document->is_object())
    return std::nullopt;
  const auto action = action_from_json({{"kind", "moves"}, {"moves", document->value("moves", Json())}});
  return action ? std::optional(std::get<MovesAnswer>(action->answer).moves) : std::nullopt;
}

Judged judge_text(const JudgedTask &task, const std::string &text, const Place &place) {
  if (task.moves_in_text) {
    const auto moves = moves_in(text);
    return moves ? judge_moves(task, *moves, place)
                 : refused("malformed", "the answer has no JSON object with a list `moves`");
  }
  ParsedAnswer parsed = parse_answer(text, task.definition, task.shown);
  if (!parsed.plan)
    return refused(name(parsed.kind), parsed.refused);
  return verified(task, std::move(*parsed.plan), place);
}

} // namespace

Judged judge(const JudgedTask &task, const Action &action, const Place &place) {
  struct {
    const JudgedTask &task;
    const Place &place;
    Judged operator()(const TextAnswer &answer) { return judge_text(task, answer.text, place); }
    Judged operator()(const PlanAnswer &answer) { return judge_plan(task, answer.plan, place); }
    Judged operator()(const MovesAnswer &answer) { return judge_moves(task, answer.moves, place); }
    Judged operator()(const ModuleAnswer &answer) { return judge_module(task, answer, place); }
  } judging{task, place};
  return std::visit(judging, action.answer);
}

} // namespace warpwright::trainer
