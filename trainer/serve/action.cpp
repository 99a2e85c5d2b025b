#include "trainer/serve/action.h"

#include "trainer/serve/message.h"

#include <set>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestName = 255;

Result<std::string> text_member(const Json &document, const std::string &name) {
  const auto found = document.find(name);
  if (found == document.end() || !found->is_string())
    return fail("the action has no text `" + name + "`");
  return found->get<std::string>();
}

Result<void> allow(const Json &document, const std::set<std::string> &known) {
  for (const auto &[name, value] : document.items())
    if (name != "kind" && name != "metadata" && !known.contains(name))
      return fail("the action has an unknown member `" + name + "`");
  return {};
}

Result<Moves> moves_of(const Json &document) {
  const Json list = document.value("moves", Json());
  if (!list.is_array())
    return fail("the action has no list `moves`");
  Moves moves;
  for (const Json &move : list) {
    if (!move.is_string())
      return fail("a move in `moves` is not a text");
    moves.push_back(move);
  }
  return moves;
}

Result<void> read_metadata(const Json &document, Action &action) {
  const auto found = document.find("metadata");
  if (found == document.end() || found->is_null())
    return {};
  if (!found->is_object())
    return fail("`metadata` is not an object");
  const Json name = found->value("request_id", Json());
  if (!name.is_null() && (!name.is_string() || name.get_ref<const std::string &>().size() > kLongestName))
    return fail("`metadata.request_id` must be a text of at most 255 bytes");
  if (name.is_string())
    action.request_id = name;
  action.usage = found->value("usage", Json());
  return {};
}

} // namespace

Result<Action> action_from_json(const Json &document) {
  if (!document.is_object())
    return fail("the action is not an object");
  const std::string kind = TRY(text_member(document, "kind"));
  Action action;
  if (kind == "text") {
    TRY(allow(document, {"text"}));
    action.answer = TextAnswer{TRY(text_member(document, "text"))};
  } else if (kind == "plan") {
    TRY(allow(document, {"plan"}));
    if (!document.contains("plan") || !document["plan"].is_object())
      return fail("the action has no object `plan`");
    action.answer = PlanAnswer{document["plan"]};
  } else if (kind == "moves") {
    TRY(allow(document, {"moves"}));
    action.answer = MovesAnswer{TRY(moves_of(document))};
  } else if (kind == "module") {
    TRY(allow(document, {"source", "model"}));
    std::string source = TRY(text_member(document, "source"));
    std::string model =
        document.contains("model") ? TRY(text_member(document, "model")) : std::string("ModelNew");
    action.answer = ModuleAnswer{std::move(source), std::move(model)};
  } else {
    return fail("`kind` is \"" + kind + "\"; there are text, plan, moves and module");
  }
  TRY(read_metadata(document, action));
  return action;
}

Json to_json(const Action &action) {
  struct {
    Json operator()(const TextAnswer &answer) { return {{"kind", "text"}, {"text", answer.text}}; }
    Json operator()(const PlanAnswer &answer) { return {{"kind", "plan"}, {"plan", answer.plan}}; }
    Json operator()(const MovesAnswer &answer) { return {{"kind", "moves"}, {"moves", answer.moves}}; }
    Json operator()(const ModuleAnswer &answer) {
      return {{"kind", "module"}, {"source", answer.source}, {"model", answer.model}};
    }
  } shown;
  return std::visit(shown, action.answer);
}

std::string content_of(const Action &action) {
  if (const auto *answer = std::get_if<TextAnswer>(&action.answer))
    return answer->text;
  Json shown = to_json(action);
  shown.erase("kind");
  return message_text(shown);
}

} // namespace warpwright::trainer
