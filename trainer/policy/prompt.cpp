#include "trainer/policy/prompt.h"

#include "support/model/json.h"
#include "trainer/environment/walk.h"
#include "trainer/tokens/graph_words.h"
#include "trainer/tokens/source_words.h"
#include "trainer/tokens/vocabulary.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr std::size_t kMostBuffers = 8;

void append(Words &words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

std::optional<double> evaluated(const Json &expression, const symbolic::Sizes &sizes) {
  if (!expression.is_string())
    return std::nullopt;
  const auto parsed = symbolic::Expression::parse(expression.get<std::string>());
  const auto value = parsed ? parsed->evaluate(sizes) : fail("no expression");
  return value ? std::optional(double(*value)) : std::nullopt;
}

std::string word_of(const Json &expression, const symbolic::Sizes &sizes) {
  const auto value = evaluated(expression, sizes);
  return value ? size_word(*value) : Vocabulary::kUnknown;
}

void append_task(Words &words, const Json &task, const symbolic::Sizes &sizes) {
  std::size_t count = 0;
  for (const Json &buffer : task.at("buffers"))
    if (count++ < kMostBuffers)
      append(words, {buffer.value("direction", "in"), buffer.value("dtype", "float32"),
                     word_of(buffer.at("extent"), sizes)});
  words.push_back("sizes");
  for (const auto &[name, value] : sizes)
    words.push_back(size_word(double(value)));
  for (const char *name : {"bytes", "flops"})
    if (task.contains("work") && task.at("work").contains(name))
      append(words, {name, word_of(task.at("work").at(name), sizes)});
  for (const Json &step : task.at("reference").at("steps")) {
    if (!step.contains("launch"))
      continue;
    const Json &launch = step.at("launch");
    for (const char *name : {"grid", "block"}) {
      words.push_back(name);
      for (const Json &extent : launch.at(name))
        words.push_back(word_of(extent, sizes));
    }
    append(words, {"shared", word_of(launch.value("shared_bytes", Json("0")), sizes)});
  }
}

void append_evidence(Words &words, const Measured &original, bool hides_time) {
  if (original.registers)
    append(words, {"registers", size_word(*original.registers)});
  if (original.occupancy)
    append(words, {"occupancy", "tenths" + std::to_string(std::lround(*original.occupancy * 10))});
  if (original.reference_time && !hides_time)
    append(words, {"time", size_word(original.reference_time->median_ns)});
}

void append_exemplar(Words &words, const Exemplar &exemplar, bool hides_score) {
  words.push_back(Vocabulary::kExemplar);
  words.push_back(hides_score ? Vocabulary::kHidden
                              : score_word(score_of(exemplar.measured).value_or(0)));
  for (const std::string &move : exemplar.moves)
    std::ranges::move(move_words(move), std::back_inserter(words));
}

} // namespace

std::vector<std::string> move_words(const std::string &move) {
  Words words{"move:" + move_name(move)};
  const std::size_t open = move.find('(');
  if (open == std::string::npos)
    return words;
  std::string parameters = move.substr(open + 1, move.size() - open - 2);
  while (!parameters.empty()) {
    const std::size_t comma = std::min(parameters.find(','), parameters.size());
    words.push_back(parameters.substr(0, comma));
    parameters.erase(0, comma + 1);
  }
  return words;
}

std::vector<std::string> prompt_words(const Context &context, const Moves &legal,
                                      const PromptOptions &options) {
  const Json &task = context.view.definition;
  const symbolic::Sizes sizes = task.at("sizes").get<symbolic::Sizes>();
  Words words{Vocabulary::kBegin};
  append_task(words, task, sizes);
  if (context.view.original)
    append_evidence(words, *context.view.original, options.hides_scores);
  if (context.device && context.device->kind == "cuda")
    append(words, {Vocabulary::kDevice, context.device->compute_capability,
                   size_word(context.device->multiprocessors)});
  words.push_back(Vocabulary::kSource);
  std::ranges::move(context.view.graph.empty()
                        ? source_words(task.at("reference").at("source").get<std::string>(),
                                       options.most_source_words)
                        : graph_words(context.view.graph, options.most_source_words),
                    std::back_inserter(words));
  words.push_back(Vocabulary::kLegal);
  Words names;
  for (const std::string &move : legal)
    if (std::ranges::find(names, "move:" + move_name(move)) == names.end())
      names.push_back("move:" + move_name(move));
  std::ranges::move(names, std::back_inserter(words));
  for (const Exemplar &exemplar : context.exemplars)
    append_exemplar(words, exemplar, options.hides_scores);
  words.push_back(Vocabulary::kAnalysis);
  return words;
}

} // namespace warpwright::trainer
