#include "trainer/serve/export_command.h"

#include "support/files.h"
#include "trainer/policy/reward.h"
#include "trainer/ranker/source_shape.h"
#include "trainer/records/measured_json.h"
#include "trainer/serve/message.h"
#include "trainer/serve/trajectory.h"

#include <algorithm>
#include <iostream>
#include <set>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

/// One judged answer of the chosen split.
struct Example {
  std::string task, prompt_hash, content;
  Json messages;
  double score = 0; ///< lower bound of the speedup; 1: verified, not timed; 0: failed
};

struct Counts {
  int lines = 0, other_split = 0, excluded = 0, host_code = 0, not_measured = 0;
};

std::optional<double> score_in(const Json &line) {
  if (line.contains("refused"))
    return 0;
  if (!line.contains("verdict"))
    return std::nullopt;
  const auto measured = measured_from_json(line.at("verdict"));
  if (!measured || measured->outcome == model::Outcome::Unsupported)
    return std::nullopt;
  if (measured->outcome != model::Outcome::Verified)
    return 0;
  return conservative_speedup(*measured).value_or(1);
}

Result<std::vector<Example>> examples_in(const ExportOptions &options, Counts &counts) {
  ExcludedSources excluded;
  if (!options.excluded.empty())
    excluded = TRY(read_excluded_sources(options.excluded));
  std::vector<Example> examples;
  for (const std::string &path : options.files) {
    const auto take = [&](const Json &line) {
      ++counts.lines;
      const auto score = score_in(line);
      const bool is_excluded = excluded.contains(line.at("hashes").value("source", ""));
      counts.other_split += line.value("split", "") != options.split;
      counts.excluded += is_excluded;
      counts.host_code += line.value("host_code", false);
      counts.not_measured += !score;
      if (score && !is_excluded && line.value("split", "") == options.split && !line.value("host_code", false))
        examples.push_back({line.at("task"), line.at("prompt_hash"), line.at("content"),
                            line.at("messages"), *score});
    };
    TRY(read_trajectories(path, take));
  }
  std::ranges::stable_sort(examples, std::greater(), &Example::score);
  return examples;
}

Json answer_of(const Example &example) { return {{"role", "assistant"}, {"content", example.content}}; }

/// The best different answers of each task.
std::vector<Json> chat_lines(const std::vector<Example> &examples, const ExportOptions &options) {
  std::map<std::string, std::set<std::string>> taken; ///< answers of each task
  std::vector<Json> lines;
  for (const Example &example : examples) {
    std::set<std::string> &own = taken[example.task];
    if (example.score <= 0 || example.score < options.min_speedup || std::ssize(own) >= options.best ||
        !own.insert(example.content).second)
      continue;
    Json messages = example.messages;
    messages.push_back(answer_of(example));
    lines.push_back({{"messages", std::move(messages)}, {"task", example.task}, {"speedup", example.score}});
  }
  return lines;
}

/// For each prompt with answers of different scores: the best against each worse one, at most
/// `best` pairs.
std::vector<Json> pair_lines(const std::vector<Example> &examples, const ExportOptions &options) {
  std::map<std::string, std::vector<const Example *>> of_prompt;
  for (const Example &example : examples)
    of_prompt[example.prompt_hash].push_back(&example);
  std::vector<Json> lines;
  for (const auto &[hash, answers] : of_prompt) {
    const Example &chosen = *answers.front();
    int count = 0;
    for (const Example *rejected : answers)
      if (chosen.score >= options.min_speedup && rejected->score < chosen.score && count++ < options.best)
        lines.push_back({{"prompt", chosen.messages},
                         {"chosen", Json::array({answer_of(chosen)})},
                         {"rejected", Json::array({answer_of(*rejected)})},
                         {"task", chosen.task}});
  }
  return lines;
}

} // namespace

Result<void> run_export(const ExportOptions &options) {
  Counts counts;
  std::vector<Example> examples;
  try {
    examples = TRY(examples_in(options, counts));
  } catch (const Json::exception &error) { // a member that is missing or of another type
    return fail(std::string("a trajectory cannot be read: ") + error.what());
  }
  const std::vector<Json> lines =
      options.pairs ? pair_lines(examples, options) : chat_lines(examples, options);
  std::cerr << lines.size() << " examples of " << counts.lines << " answers; left out: " << counts.other_split
            << " of other splits, " << counts.excluded << " of excluded sources, " << counts.host_code
            << " of host code, " << counts.not_measured << " not measured\n";
  if (lines.empty())
    return fail("there is no example to write", "Lower --min-speedup, or name more trajectories");
  std::string text;
  for (const Json &line : lines)
    text += message_text(line) + "\n";
  return write_atomically(options.to, text);
}

} // namespace warpwright::trainer
