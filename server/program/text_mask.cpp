#include "server/program/text_mask.h"

#include "support/words.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

namespace warpwright::program {
namespace {

constexpr double kSpreads = 4;     ///< of the original runs, that another run may differ by
constexpr double kRounding = 1e-4; ///< relative; a larger spread is no rounding
constexpr double kDecimals = 1e-9; ///< relative; by which a number read from text may be off
constexpr std::size_t kShownText = 120;

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

struct TokenLine {
  std::string text, skeleton;
  std::vector<Token> tokens;
};

std::vector<TokenLine> token_lines(const std::string &text) {
  std::vector<TokenLine> lines;
  for (std::string &line : lines_of(text)) {
    TokenLine one{.text = std::move(line), .skeleton = {}, .tokens = {}};
    one.tokens = tokens_of(one.text);
    one.skeleton = skeleton_of(one.tokens);
    lines.push_back(std::move(one));
  }
  return lines;
}

void sort_lines(std::vector<TokenLine> &lines) {
  std::ranges::sort(lines, [](const TokenLine &one, const TokenLine &other) {
    return std::tie(one.skeleton, one.text) < std::tie(other.skeleton, other.text);
  });
}

/// Whether all runs have the same lines in the same order, but for numbers.
bool all_alike(const std::vector<std::vector<TokenLine>> &runs) {
  return std::ranges::all_of(runs, [&](const auto &run) {
    return std::ranges::equal(run, runs.front(), {}, &TokenLine::skeleton, &TokenLine::skeleton);
  });
}

std::string shown(const std::string &text) {
  return "'" + (text.size() > kShownText ? text.substr(0, kShownText) + "..." : text) + "'";
}

bool is_binary(const std::string &text) { return text.substr(0, 8192).find('\0') != std::string::npos; }

std::vector<std::string> check_words(const std::vector<Token> &tokens) {
  std::vector<std::string> words;
  for (const Token &token : tokens)
    if (tells_a_check({token}))
      words.push_back(token.text);
  return words;
}

} // namespace

TextMask::TextMask(std::span<const std::string> texts, const NumberTolerance &tolerance) : tolerance_(tolerance) {
  const bool all_equal = std::ranges::all_of(texts, [&](const std::string &text) { return text == texts.front(); });
  if (std::ranges::any_of(texts, is_binary)) {
    form_ = all_equal ? Form::Bytes : Form::Nothing;
    bytes_ = all_equal ? texts.front() : "";
    return;
  }
  std::vector<std::vector<TokenLine>> runs;
  for (const std::string &text : texts)
    runs.push_back(token_lines(text));
  const std::size_t count = runs.front().size();
  if (std::ranges::any_of(runs, [&](const auto &run) { return run.size() != count; })) {
    learn_common(texts);
    return;
  }
  if (!all_alike(runs)) {
    auto sorted = runs;
    std::ranges::for_each(sorted, sort_lines);
    if (all_alike(sorted)) {
      runs = std::move(sorted);
      form_ = Form::Unordered;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<const std::vector<Token> *> tokens;
    for (const auto &run : runs)
      tokens.push_back(&run[i].tokens);
    lines_.push_back(learn(tokens, runs.front()[i].text));
  }
}

TextMask::Line TextMask::learn(const std::vector<const std::vector<Token> *> &runs, const std::string &text) {
  Line line{.text = text, .slots = {}, .is_free = false};
  const std::vector<Token> &first = *runs.front();
  const bool same_size = std::ranges::all_of(runs, [&](const auto *run) { return run->size() == first.size(); });
  if (!same_size) {
    line.is_free = true;
    ++free_;
    return line;
  }
  const bool is_check = tells_a_check(first), is_error = tells_an_error(first), is_time = tells_a_time(first);
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<const Token *> tokens;
    for (const auto *run : runs)
      tokens.push_back(&(*run)[i]);
    line.slots.push_back(slot_of(tokens, is_check, is_error, is_time));
    masked_ += line.slots.back().kind == Slot::Kind::Any;
  }
  return line;
}

TextMask::Slot TextMask::slot_of(const std::vector<const Token *> &runs, bool is_check, bool is_error,
                                 bool is_time) const {
  const Token &first = *runs.front();
  Slot slot{.text = first.text};
  const bool equal = std::ranges::all_of(runs, [&](const Token *token) { return token->text == first.text; });
  const bool numbers = std::ranges::all_of(
      runs, [](const Token *token) { return token->kind == Token::Kind::Number && std::isfinite(token->value); });
  const bool integers = std::ranges::all_of(runs, [](const Token *token) { return token->is_integer; });
  if (!numbers) {
    slot.kind = equal ? Slot::Kind::Equal : Slot::Kind::Any;
    return slot;
  }
  if (first.is_time || (is_time && !is_check && !(equal && integers))) {
    slot.kind = Slot::Kind::Any;
    return slot;
  }
  if (equal && integers)
    return slot;
  slot.low = slot.high = first.value;
  double last_place = 0;
  for (const Token *token : runs) {
    slot.low = std::min(slot.low, token->value);
    slot.high = std::max(slot.high, token->value);
    last_place = std::max(last_place, last_place_of(*token));
  }
  const double spread = slot.high - slot.low, size = std::max(std::abs(slot.low), std::abs(slot.high));
  if (!is_check && spread > kRounding * size) {
    slot.kind = Slot::Kind::Any;
    return slot;
  }
  slot.kind = Slot::Kind::Range;
  const double allowed = std::max(
      {kSpreads * spread, integers ? 0 : tolerance_.relative * size, last_place, is_error ? tolerance_.absolute : 0});
  const double slack = kDecimals * size;
  slot.low = is_error && slot.low > 0 ? 0 : slot.low - allowed - slack; // an error may become smaller
  slot.high = is_error && slot.high < 0 ? 0 : slot.high + allowed + slack;
  return slot;
}

void TextMask::learn_common(std::span<const std::string> texts) {
  form_ = Form::Common;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<std::string> skeletons, both;
    for (const TokenLine &line : token_lines(texts[i]))
      skeletons.push_back(line.skeleton);
    std::ranges::sort(skeletons);
    if (i > 0)
      std::ranges::set_intersection(common_, skeletons, std::back_inserter(both));
    common_ = i == 0 ? std::move(skeletons) : std::move(both);
  }
}

std::optional<std::string> TextMask::line_difference(const Line &line, const std::string &other) const {
  const std::vector<Token> tokens = tokens_of(other);
  const std::string told = shown(other) + " was " + shown(line.text);
  if (line.is_free) {
    if (check_words(tokens) != check_words(tokens_of(line.text)))
      return told;
    return std::nullopt;
  }
  if (tokens.size() != line.slots.size())
    return told;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Slot &slot = line.slots[i];
    const bool agrees =
        slot.kind == Slot::Kind::Any ? true
        : slot.kind == Slot::Kind::Equal
            ? tokens[i].text == slot.text
            : tokens[i].kind == Token::Kind::Number && tokens[i].value >= slot.low && tokens[i].value <= slot.high;
    if (!agrees)
      return told;
  }
  return std::nullopt;
}

std::optional<std::string> TextMask::difference(const std::string &text) const {
  if (form_ == Form::Nothing)
    return std::nullopt;
  if (form_ == Form::Bytes)
    return text == bytes_ ? std::nullopt : std::optional<std::string>("its bytes differ");
  std::vector<TokenLine> lines = token_lines(text);
  if (form_ == Form::Common) {
    std::vector<std::string> skeletons, missing;
    for (const TokenLine &line : lines)
      skeletons.push_back(line.skeleton);
    std::ranges::sort(skeletons);
    std::ranges::set_difference(common_, skeletons, std::back_inserter(missing));
    return missing.empty() ? std::nullopt : std::optional("it has no line like " + shown(missing.front()));
  }
  if (lines.size() != lines_.size())
    return "it has " + std::to_string(lines.size()) + " lines, and had " + std::to_string(lines_.size());
  if (form_ == Form::Unordered)
    sort_lines(lines);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (const auto told = line_difference(lines_[i], lines[i].text))
      return (form_ == Form::Lines ? "line " + std::to_string(i + 1) + ": " : "") + *told;
  return std::nullopt;
}

std::string TextMask::left_out() const {
  if (form_ == Form::Nothing)
    return "it differs between runs of the original and is no text, so it is not compared";
  if (form_ == Form::Common)
    return "the number of its lines differs between runs of the original: " + std::to_string(common_.size()) +
           " lines that all of them have must be there";
  std::vector<std::string> parts;
  if (masked_ > 0)
    parts.push_back(std::to_string(masked_) + (masked_ == 1 ? " number or word is" : " numbers and words are") +
                    " masked");
  if (free_ > 0)
    parts.push_back(std::to_string(free_) + (free_ == 1 ? " line is" : " lines are") +
                    " compared by words of checks only");
  if (form_ == Form::Unordered)
    parts.push_back("the order of its lines does not count");
  return joined(parts, ", ");
}

} // namespace warpwright::program
