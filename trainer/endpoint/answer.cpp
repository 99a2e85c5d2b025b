#include "trainer/endpoint/answer.h"

#include "support/model/json.h"
#include "trainer/endpoint/host_code.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace warpwright::trainer {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kHeadings = {
    "## Performance Analysis", "## Algorithm Design", "## Code Implementation"};

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::string lowered(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The text in an answer that is one ```json block; else the answer. Endpoints without structured output give it.
std::string unfenced(const std::string &answer) {
  constexpr std::string_view kOpen = "```json\n", kClose = "```";
  const std::string text = trimmed(answer);
  return text.starts_with(kOpen) && text.ends_with(kClose) &&
                 text.size() > kOpen.size() + kClose.size()
             ? text.substr(kOpen.size(), text.size() - kOpen.size() - kClose.size())
             : answer;
}

struct Block {
  std::string language, text;
  std::size_t begin = 0, end = 0; ///< of the whole block, fences included
};

/// Returns the fenced blocks of a text, in order. Errors: an unclosed block.
Result<std::vector<Block>> blocks_of(std::string_view text) {
  std::vector<Block> blocks;
  std::optional<Block> open;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with("```")) {
      if (open) {
        open->end = end;
        blocks.push_back(std::move(*open));
        open.reset();
      } else {
        open = Block{lowered(trimmed(line.substr(3))), "", at, 0};
      }
    } else if (open) {
      open->text += std::string(line) + "\n";
    }
    at = end + 1;
  }
  if (open)
    return fail("a ``` block is not closed; the answer may have been cut off");
  return blocks;
}

/// Splits an answer into its three sections. A heading inside a fenced block is plain text.
Result<std::array<std::string, 3>> sections_of(const std::string &text) {
  std::array<std::string, 3> sections;
  int current = -1;
  bool fenced = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.starts_with("```"))
      fenced = !fenced;
    const auto heading = std::ranges::find(kHeadings, trimmed(line));
    if (!fenced && heading != kHeadings.end()) {
      const int found = static_cast<int>(heading - kHeadings.begin());
      if (found != current + 1)
        return fail("the heading \"" + std::string(*heading) +
                    (found <= current ? "\" comes twice or too late" : "\" comes before its turn"));
      current = found;
    } else if (current >= 0) {
      sections[static_cast<std::size_t>(current)] += line + "\n";
    }
    at = end + 1;
  }
  if (current != 2)
    return fail("the heading \"" + std::string(kHeadings[static_cast<std::size_t>(current + 1)]) +
                "\" is missing");
  return sections;
}

/// Returns the value of a labeled line: "2" for "Faster version: 2"; nullopt if there is no such line.
std::optional<std::string> field(const std::string &section, std::string_view label) {
  for (std::size_t at = 0; at < section.size();) {
    const std::size_t end = std::min(section.find('\n', at), section.size());
    std::string line = trimmed(std::string_view(section).substr(at, end - at));
    std::erase(line, '*'); // models often write labels in bold
    if (line.starts_with("- "))
      line = line.substr(2);
    if (lowered(line).starts_with(lowered(std::string(label)) + ":"))
      return trimmed(line.substr(label.size() + 1));
    at = end + 1;
  }
  return std::nullopt;
}

std::optional<model::Bound> bound_named(const std::string &text) {
  const std::string word = lowered(text.substr(0, text.find_first_of(" .,;(")));
  if (word == "memory")
    return model::Bound::Memory;
  if (word == "compute")
    return model::Bound::Compute;
  return word == "latency" ? std::optional(model::Bound::Latency) : std::nullopt;
}

Result<Analysis> analysis_of(const std::string &section, int versions) {
  Analysis analysis;
  analysis.text = trimmed(section);
  const auto faster = field(section, "Faster version");
  const std::string which =
      faster ? lowered(faster->substr(0, faster->find_first_of(" .,;("))) : "";
  if (versions >= 2) {
    if (which != "1" && which != "2")
      return fail("the analysis has no line \"Faster version: 1\" or \"Faster version: 2\"");
    analysis.faster_exemplar = which == "1" ? 0 : 1;
  }
  if (const auto change = field(section, "Decisive change"); change && !change->empty())
    analysis.explaining_move = *change;
  else
    return fail("the analysis has no line \"Decisive change: ...\"");
  const auto bound = field(section, "Bound");
  analysis.bound = bound ? bound_named(*bound) : std::nullopt;
  if (!analysis.bound)
    return fail("the analysis has no line \"Bound: memory\", \"Bound: compute\" or "
                "\"Bound: latency\"");
  return analysis;
}

bool is_source(const Block &block) {
  return block.language == "cuda" || block.language == "cpp" || block.language == "c++" ||
         block.language == "cu";
}

struct Code {
  std::string source;
  json plan;
};

Result<Code> code_of(const std::string &section) {
  auto blocks = TRY(blocks_of(section));
  if (blocks.size() == 1 && blocks[0].language == "json")
    if (json plan = json::parse(blocks[0].text, nullptr, false);
        plan.contains("moves") && !plan.contains("regions"))
      return Code{"", std::move(plan)};
  if (blocks.size() != 2 || !is_source(blocks[0]) || blocks[1].language != "json")
    return fail(
        "the section \"## Code Implementation\" must hold exactly two blocks, ```cuda with the "
        "device source and then ```json with the plan; found " +
        std::to_string(blocks.size()));
  json plan = json::parse(blocks[1].text, nullptr, false);
  if (!plan.is_object())
    return fail("the ```json block is no JSON object");
  return Code{blocks[0].text, std::move(plan)};
}

/// The value of a text member; empty if there is none.
std::string trimmed_text_in(const json &object, const char *name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? trimmed(found->get<std::string>()) : "";
}

Result<Analysis> analysis_in(const json &object, int versions) {
  const json said = object.value("analysis", json());
  if (!said.is_object())
    return fail("the answer has no object `analysis`");
  Analysis analysis;
  analysis.text = trimmed_text_in(said, "text");
  const std::string which = trimmed_text_in(said, "faster");
  if (versions >= 2 && which != "1" && which != "2")
    return fail("`analysis.faster` must be \"1\" or \"2\"");
  if (versions >= 2)
    analysis.faster_exemplar = which == "1" ? 0 : 1;
  if (trimmed_text_in(said, "decisive").empty())
    return fail("the answer has no text `analysis.decisive`");
  analysis.explaining_move = trimmed_text_in(said, "decisive");
  analysis.bound = bound_named(trimmed_text_in(said, "bound"));
  if (!analysis.bound)
    return fail("`analysis.bound` must be memory, compute or latency");
  analysis.design = trimmed_text_in(object, "design");
  if (analysis.design.empty())
    return fail("the answer has no text `design`");
  return analysis;
}

Result<Code> code_in(const json &object) {
  const auto source = object.find("source");
  if (source == object.end() || !source->is_string())
    return fail("the answer has no text `source`");
  const json plan = object.value("plan", json());
  if (!plan.is_object())
    return fail("the answer has no object `plan`");
  return Code{*source, plan};
}

Result<model::Plan> plan_of(Code code, const model::Task &task) {
  if (code.plan.contains("source"))
    return fail("the plan brings a source of its own; the source is the ```cuda block");
  code.plan["source"] = std::move(code.source);
  TRY(model::validate(code.plan, model::Schema::Plan));
  model::Plan plan = TRY(model::proposed_plan_from_json(code.plan));
  TRY(model::check_plan(plan, task));
  return plan;
}

/// The list `moves` of an answer. Errors: another type.
Result<Moves> moves_of(const json &plan) {
  const json list = plan.value("moves", json::array());
  Moves moves;
  for (const json &move : list)
    if (move.is_string())
      moves.push_back(move);
  return list.is_array() && moves.size() == list.size()
             ? Result<Moves>(std::move(moves))
             : fail("`moves` must be a list of texts such as \"family(region=0,name=rows)\"");
}

/// The list `regions` of an answer as plans over the regions' buffers. Errors: a member that is missing, unknown or
/// of another type; a region twice.
Result<std::map<std::string, model::Plan>> regions_of(const Code &code) {
  std::map<std::string, model::Plan> regions;
  const json list = code.plan.value("regions", json::array());
  if (!list.is_array())
    return fail("`regions` must be a list of objects");
  for (json one : list) {
    std::string name = one.is_object() ? trimmed_text_in(one, "region") : "";
    if (name.starts_with('%'))
      name.erase(0, 1);
    if (name.empty())
      return fail("each of `regions` must be an object with a text `region`, a name from the plan");
    one.erase("region");
    for (const auto &[member, value] : one.items())
      if (member != "steps" && member != "temporaries")
        return fail("the region " + name + " has a member `" + member +
                    "`; there are region, steps and temporaries");
    one["source"] = code.source;
    TRY(model::validate(one, model::Schema::Plan));
    if (!regions.emplace(name, TRY(model::proposed_plan_from_json(one))).second)
      return fail("the region " + name + " comes twice");
  }
  return regions;
}

ParsedAnswer refuse(ParsedAnswer answer, AnswerKind kind, std::string why) {
  answer.kind = kind;
  answer.refused = std::move(why);
  return answer;
}

/// True if a step of a plan, or of one of its regions, is a call of a module.
bool calls_module(const json &plan) {
  if (!plan.is_object())
    return false;
  for (const json &step : plan.value("steps", json::array()))
    if (step.is_object() && step.contains("module"))
      return true;
  const json regions = plan.value("regions", json::array());
  return std::ranges::any_of(regions, calls_module);
}

/// Takes moves and regions of an answer.
ParsedAnswer with_changes(ParsedAnswer answer, const Code &code) {
  auto moves = moves_of(code.plan);
  if (!moves)
    return refuse(std::move(answer), AnswerKind::BadPlan, describe(moves.error()));
  auto regions = regions_of(code);
  if (!regions)
    return refuse(std::move(answer), AnswerKind::BadPlan, describe(regions.error()));
  if (moves->empty() && regions->empty())
    return refuse(std::move(answer), AnswerKind::BadPlan,
                  "the answer has neither `moves` nor `regions` nor `steps`");
  answer.moves = std::move(*moves);
  answer.regions = std::move(*regions);
  answer.kind = AnswerKind::Usable;
  return answer;
}

/// Checks the code of an answer, and takes its plan.
ParsedAnswer with_code(ParsedAnswer answer, Result<Code> code, const model::Task &task,
                       bool changes_plan) {
  if (!code)
    return refuse(std::move(answer), AnswerKind::Malformed, code.error().message);
  if (const auto why = host_code_in(code->source))
    return refuse(std::move(answer), AnswerKind::HostCode, "the source is no device source: " + *why);
  if (calls_module(code->plan))
    return refuse(std::move(answer), AnswerKind::HostCode,
                  *host_code_in(model::Plan{.steps = {model::ModuleStep{}}}));
  if (changes_plan && !code->plan.contains("steps"))
    return with_changes(std::move(answer), *code);
  auto plan = plan_of(std::move(*code), task);
  if (!plan)
    return refuse(std::move(answer), AnswerKind::BadPlan, describe(plan.error()));
  answer.plan = std::move(*plan);
  answer.kind = AnswerKind::Usable;
  return answer;
}

/// Parses an answer that is one JSON object.
ParsedAnswer parse_object(const json &object, const model::Task &task, int versions,
                          bool changes_plan) {
  ParsedAnswer answer;
  auto analysis = analysis_in(object, versions);
  if (!analysis)
    return refuse(std::move(answer), AnswerKind::Malformed, analysis.error().message);
  answer.analysis = std::move(*analysis);
  return with_code(std::move(answer), code_in(object), task, changes_plan);
}

} // namespace

json answer_schema() {
  const json text{{"type", "string"}};
  const auto object = [](json members) {
    std::vector<std::string> names;
    for (const auto &[name, schema] : members.items())
      names.push_back(name);
    return json{{"type", "object"},
                {"required", names},
                {"additionalProperties", false},
                {"properties", std::move(members)}};
  };
  const json plan{{"type", "object"}}; // of steps, or of moves and regions
  return object({{"analysis", object({{"faster", {{"enum", {"1", "2", "none"}}}},
                                      {"decisive", text},
                                      {"bound", {{"enum", {"memory", "compute", "latency"}}}},
                                      {"text", text}})},
                 {"design", text},
                 {"source", text},
                 {"plan", plan}});
}

const char *name(AnswerKind kind) {
  switch (kind) {
  case AnswerKind::Usable:
    return "usable";
  case AnswerKind::Malformed:
    return "malformed";
  case AnswerKind::BadPlan:
    return "bad_plan";
  case AnswerKind::HostCode:
    return "host_code";
  }
  return "";
}

ParsedAnswer parse_answer(const std::string &text, const model::Task &task, int versions,
                          bool changes_plan) {
  ParsedAnswer answer;
  if (const json object = json::parse(unfenced(text), nullptr, false); object.is_object())
    return parse_object(object, task, versions, changes_plan);
  const auto sections = sections_of(text);
  if (!sections)
    return refuse(answer, AnswerKind::Malformed, sections.error().message);
  answer.analysis.text = trimmed((*sections)[0]);
  auto analysis = analysis_of((*sections)[0], versions);
  if (!analysis)
    return refuse(answer, AnswerKind::Malformed, analysis.error().message);
  answer.analysis = std::move(*analysis);
  answer.analysis.design = trimmed((*sections)[1]);
  if (answer.analysis.design.empty())
    return refuse(answer, AnswerKind::Malformed, "the section \"## Algorithm Design\" is empty");
  return with_code(std::move(answer), code_of((*sections)[2]), task, changes_plan);
}

} // namespace warpwright::trainer
