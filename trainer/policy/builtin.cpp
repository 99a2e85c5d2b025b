// Builtin policy's answers; their grammar: faster, why, bound, <moves>, then each move word by word, <stop>.
#include "trainer/policy/builtin.h"

#include "support/model/json.h"
#include "trainer/policy/analysis_truth.h"
#include "trainer/environment/walk.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace warpwright::trainer {
namespace {

using Words = std::vector<std::string>;

constexpr double kGreedy = 0.02;
constexpr int kLongestMove = 10;  ///< words
constexpr int kAnswerTokens = 72; ///< reserved for the answer
constexpr int kAnswers = 6;       ///< attempts at a proposal that was not tried yet
constexpr double kWarmer = 0.3;   ///< increase of the temperature for each attempt
constexpr std::pair<const char *, model::Bound> kBounds[] = {{"memory", model::Bound::Memory},
                                                             {"compute", model::Bound::Compute},
                                                             {"latency", model::Bound::Latency}};

/// Grammar of an answer: the environment and earlier tokens decide which tokens may follow.
class Grammar {
public:
  Grammar(const Vocabulary &vocabulary, const Context &context, Environment &environment)
      : vocabulary_(vocabulary), context_(context), environment_(environment) {}

  std::vector<int> faster() const {
    if (context_.exemplars.size() < 2)
      return {vocabulary_.id(Vocabulary::kNone)};
    return {vocabulary_.id(Vocabulary::kFirst), vocabulary_.id(Vocabulary::kSecond)};
  }
  std::vector<int> explanation() const {
    std::vector<int> allowed{vocabulary_.id(Vocabulary::kNone)};
    for (const std::string &name : differing_moves(context_.exemplars))
      allowed.push_back(vocabulary_.id("move:" + name));
    return without_repeats(allowed);
  }
  std::vector<int> bound() const {
    std::vector<int> allowed;
    for (const auto &[word, bound] : kBounds)
      allowed.push_back(vocabulary_.id(word));
    return allowed;
  }

  /// Goes to the state after `moves`. Errors: as Environment::state().
  Result<void> enter(const Moves &moves, bool may_go_on) {
    auto state = TRY(environment_.state(context_.task, moves));
    choices_.clear();
    if (may_go_on)
      for (const std::string &move : state.legal)
        choices_.push_back({move, vocabulary_.ids(move_words(move))});
    may_stop_ =
        choices_.empty() || (!moves.empty() && environment_.can_measure(context_.task, moves));
    depth_ = 0;
    return {};
  }
  /// Possible next words of a move; at its start also kStop.
  std::vector<int> next() const {
    std::vector<int> allowed;
    if (depth_ == 0 && may_stop_)
      allowed.push_back(vocabulary_.id(Vocabulary::kStop));
    for (const Choice &choice : choices_)
      if (choice.words.size() > depth_)
        allowed.push_back(choice.words[depth_]);
    return without_repeats(allowed);
  }
  /// Narrows the choices by a token. @return the move once it is complete
  std::optional<std::string> take(int token) {
    std::erase_if(choices_, [&](const Choice &choice) {
      return choice.words.size() <= depth_ || choice.words[depth_] != token;
    });
    ++depth_;
    for (const Choice &choice : choices_)
      if (choice.words.size() > depth_)
        return std::nullopt;
    return choices_.empty() ? std::optional<std::string>() : std::optional(choices_.front().move);
  }

private:
  struct Choice {
    std::string move;
    std::vector<int> words;
  };

  static std::vector<int> without_repeats(std::vector<int> tokens) {
    std::ranges::sort(tokens);
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    return tokens;
  }

  const Vocabulary &vocabulary_;
  const Context &context_;
  Environment &environment_;
  std::vector<Choice> choices_;
  bool may_stop_ = false;
  std::size_t depth_ = 0;
};

/// The prompt's tokens; if the network's context is too short, they are cut before the exemplars.
Result<std::vector<int>> prompt_tokens(const Vocabulary &vocabulary, int context_tokens,
                                       const Context &context, Environment &environment,
                                       PromptOptions options) {
  auto state = TRY(environment.state(context.task, {}));
  const int most = context_tokens - kAnswerTokens;
  for (;;) {
    std::vector<int> tokens = vocabulary.ids(prompt_words(context, state.legal, options));
    if (int(tokens.size()) <= most)
      return tokens;
    const auto over = std::size_t(int(tokens.size()) - most);
    if (options.most_source_words == 0)
      return fail("the prompt of " + context.task.id + " does not fit into " +
                      std::to_string(context_tokens) + " tokens",
                  "Train with a larger network.context");
    options.most_source_words -= std::min(options.most_source_words, over);
  }
}

class Sampler {
public:
  Sampler(std::unique_ptr<Decoding> decoding, double temperature, std::mt19937_64 &random,
          Rollout &rollout)
      : decoding_(std::move(decoding)), temperature_(temperature), random_(random),
        rollout_(rollout) {}

  int draw(const std::vector<int> &allowed) {
    const double warmth = std::max(temperature_, kGreedy);
    const std::vector<float> logs = decoding_->log_probabilities(allowed, warmth);
    std::size_t place = std::size_t(std::ranges::max_element(logs) - logs.begin());
    if (temperature_ >= kGreedy) {
      double left = draw_unit(random_);
      for (place = 0; place + 1 < logs.size(); ++place)
        if ((left -= std::exp(double(logs[place]))) < 0)
          break;
    }
    Target target;
    target.position = int(rollout_.sequence.tokens.size());
    target.allowed = allowed;
    target.old_log = logs[place];
    rollout_.sequence.targets.push_back(target);
    give(allowed[place]);
    return allowed[place];
  }
  void give(int token) {
    rollout_.sequence.tokens.push_back(token);
    decoding_->push(token);
  }

private:
  std::unique_ptr<Decoding> decoding_;
  double temperature_;
  std::mt19937_64 &random_;
  Rollout &rollout_;
};

bool was_tried(const Context &context, const Moves &moves) {
  return std::ranges::any_of(context.tried,
                             [&](const Exemplar &tried) { return tried.moves == moves; });
}

Analysis read_analysis(const Vocabulary &vocabulary, const int (&tokens)[3],
                       const Context &context) {
  Analysis analysis;
  if (vocabulary.word(tokens[0]) != Vocabulary::kNone)
    analysis.faster_exemplar = vocabulary.word(tokens[0]) == Vocabulary::kSecond;
  const std::string &why = vocabulary.word(tokens[1]);
  analysis.explaining_move = why.starts_with("move:") ? why.substr(5) : "none";
  for (const auto &[word, bound] : kBounds)
    if (vocabulary.word(tokens[2]) == word)
      analysis.bound = bound;
  analysis.text = analysis_text(analysis, context.exemplars);
  return analysis;
}

} // namespace

Result<PromptReading> PromptReading::read(Decoder &network, const Vocabulary &vocabulary,
                                          const Context &context, Environment &environment,
                                          const PromptOptions &options) {
  PromptReading reading;
  reading.vocabulary_ = &vocabulary;
  reading.context_tokens_ = network.shape().context;
  reading.prompt_ =
      TRY(prompt_tokens(vocabulary, reading.context_tokens_, context, environment, options));
  reading.decoding_ = network.decode(reading.prompt_);
  return reading;
}

Result<Rollout> PromptReading::answer(const Context &context, Environment &environment,
                                      const SamplingOptions &options,
                                      std::mt19937_64 &random) const {
  Rollout rollout;
  rollout.sequence.tokens = prompt_;
  Sampler sampler(decoding_->fork(), options.temperature, random, rollout);
  Grammar grammar(*vocabulary_, context, environment);
  const int faster = sampler.draw(grammar.faster());
  const int why = sampler.draw(grammar.explanation());
  const int bound = sampler.draw(grammar.bound());
  rollout.proposal.analysis = read_analysis(*vocabulary_, {faster, why, bound}, context);
  sampler.give(vocabulary_->id(Vocabulary::kMoves));
  rollout.move_targets = int(rollout.sequence.targets.size());
  Moves &moves = rollout.proposal.moves;
  const int stop = vocabulary_->id(Vocabulary::kStop);
  for (;;) {
    const int room = context_tokens_ - int(rollout.sequence.tokens.size());
    const bool may_go_on = int(moves.size()) < options.longest && room > kLongestMove + 1;
    TRY(grammar.enter(moves, may_go_on));
    int token = sampler.draw(grammar.next());
    if (token == stop)
      break;
    std::optional<std::string> move = grammar.take(token);
    while (!move)
      move = grammar.take(sampler.draw(grammar.next()));
    moves.push_back(*move);
  }
  moves = measurable_part(context.task, std::move(moves), environment);
  return rollout;
}

Result<Sequence> imitation_sequence(const Vocabulary &vocabulary, int context_tokens,
                                    const Context &context, Environment &environment,
                                    const PromptOptions &options, const Moves &moves,
                                    const AnalysisTruth &truth, float analysis_weight) {
  auto prompt = TRY(prompt_tokens(vocabulary, context_tokens, context, environment, options));
  Sequence sequence;
  sequence.tokens = std::move(prompt);
  Grammar grammar(vocabulary, context, environment);
  const auto give = [&](int token, std::vector<int> allowed, float weight) {
    if (weight > 0 && std::ranges::find(allowed, token) != allowed.end()) {
      Target target;
      target.position = int(sequence.tokens.size());
      target.allowed = std::move(allowed);
      target.weight = weight;
      sequence.targets.push_back(std::move(target));
    }
    sequence.tokens.push_back(token);
  };
  const auto &faster = truth.faster_exemplar;
  give(vocabulary.id(!faster        ? Vocabulary::kNone
                     : *faster == 0 ? Vocabulary::kFirst
                                    : Vocabulary::kSecond),
       grammar.faster(), faster ? analysis_weight : 0);
  const auto &why = truth.explaining_move;
  give(vocabulary.id(why ? "move:" + *why : Vocabulary::kNone), grammar.explanation(),
       why ? analysis_weight : 0);
  give(vocabulary.id(truth.bound ? std::string(model::name(*truth.bound)) : Vocabulary::kNone),
       grammar.bound(), truth.bound ? analysis_weight : 0);
  sequence.tokens.push_back(vocabulary.id(Vocabulary::kMoves));
  Moves made;
  for (const std::string &move : moves) {
    TRY(grammar.enter(made, true));
    for (const int token : vocabulary.ids(move_words(move))) {
      give(token, grammar.next(), 1);
      grammar.take(token);
    }
    made.push_back(move);
  }
  TRY(grammar.enter(made, true));
  give(vocabulary.id(Vocabulary::kStop), grammar.next(), 1);
  if (int(sequence.tokens.size()) > context_tokens)
    return fail("an answer of " + context.task.id + " is too long",
                "Train with a larger network.context");
  return sequence;
}

BuiltinPolicy::BuiltinPolicy(std::shared_ptr<Decoder> network,
                             std::shared_ptr<const Vocabulary> vocabulary, SamplingOptions options,
                             std::uint64_t seed)
    : network_(std::move(network)), vocabulary_(std::move(vocabulary)), options_(options),
      random_(seed) {}

Result<Proposal> BuiltinPolicy::propose(const Context &context, Environment &environment) {
  const auto started = std::chrono::steady_clock::now();
  const Context shown{context.task, context.view, context.device,
                      options_.ignores_exemplars ? std::vector<Exemplar>() : context.exemplars,
                      context.tried};
  auto reading =
      TRY(PromptReading::read(*network_, *vocabulary_, shown, environment, options_.prompt));
  SamplingOptions options = options_;
  auto rollout = reading.answer(shown, environment, options, random_);
  // A confident policy repeats itself: an answer that was tried is drawn again at a higher temperature.
  for (int i = 1; i < kAnswers && rollout && was_tried(context, rollout->proposal.moves) &&
                  options_.temperature >= kGreedy;
       ++i) {
    options.temperature = options_.temperature * (1 + i * kWarmer);
    rollout = reading.answer(shown, environment, options, random_);
  }
  if (!rollout)
    return std::unexpected(rollout.error());
  rollout->proposal.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return std::move(rollout->proposal);
}

} // namespace warpwright::trainer
