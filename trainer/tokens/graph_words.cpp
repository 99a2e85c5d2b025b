#include "trainer/tokens/graph_words.h"

#include "trainer/tokens/vocabulary.h"

#include <algorithm>
#include <array>
#include <map>

namespace warpwright::trainer {
namespace {

using Words = std::vector<std::string>;

/// Attributes that determine a node's cost or the layout of its elements.
constexpr std::array<std::string_view, 9> kKeptNames{
    "dim", "dims", "kernel", "stride", "causal", "groups", "target", "transposed", "diagonal"};
constexpr std::size_t kMostNumbers = 4; ///< words per list of numbers

struct Line {
  std::string name, op, dtype;
  Words shape, operands, attributes;
};

/// Returns the text between two marks, searched from `at` on; empty if a mark is missing.
std::string_view between(std::string_view text, char open, char close, std::size_t at = 0) {
  const std::size_t begin = text.find(open, at);
  const std::size_t end = begin == text.npos ? text.npos : text.find(close, begin + 1);
  return end == text.npos ? std::string_view() : text.substr(begin + 1, end - begin - 1);
}

template <class Take>
void split(std::string_view list, Take take) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view part = list.substr(0, comma);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (!part.empty())
      take(part);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

std::string size_of(std::string_view digits) {
  return size_word(std::atof(std::string(digits).c_str()));
}

/// Words of a list such as {dims=[1,2], eps=1e-05}: only kept attributes, one word per number.
Words attribute_words(std::string_view text) {
  Words words;
  for (const std::string_view name : kKeptNames) {
    std::size_t at = text.find(std::string(name) + "=");
    while (at != text.npos && at > 0 && text[at - 1] != ' ' && text[at - 1] != '{')
      at = text.find(std::string(name) + "=", at + 1);
    if (at == text.npos)
      continue;
    const std::string_view value = text.substr(at + name.size() + 1);
    if (value.starts_with('"')) { // target="aten::lstm.input"
      const std::string_view target = between(value, '"', '"');
      words.emplace_back(target.substr(0, target.find('.')));
      continue;
    }
    words.emplace_back(name);
    if (!value.starts_with('[')) {
      words.emplace_back(value.substr(0, value.find_first_of(",}")));
      continue;
    }
    std::size_t count = 0;
    split(between(value, '[', ']'), [&](std::string_view number) {
      if (count++ < kMostNumbers)
        words.emplace_back(number.size() < 5 ? number : "num");
    });
  }
  return words;
}

/// Parses a node such as "%r: f32[16,64] = maximum(%c, %zero) {..}". Other text gives a line without an op.
Line read_line(std::string_view text) {
  Line line;
  const std::size_t colon = text.find(": "), equals = text.find(" = ");
  if (!text.starts_with('%') || colon == text.npos || equals == text.npos)
    return line;
  line.name = text.substr(0, colon);
  std::string_view type = text.substr(colon + 2, equals - colon - 2);
  if (type.starts_with('('))
    type.remove_prefix(1);
  line.dtype = type.substr(0, type.find('['));
  split(between(type, '[', ']'),
        [&](std::string_view size) { line.shape.push_back(size_of(size)); });
  const std::string_view rest = text.substr(equals + 3);
  const std::size_t brace = rest.find(" {");
  const std::string_view call = rest.substr(0, brace);
  line.op = call.substr(0, call.find('('));
  split(between(call, '(', ')'), [&](std::string_view name) { line.operands.emplace_back(name); });
  if (brace != rest.npos)
    line.attributes = attribute_words(rest.substr(brace + 1));
  return line;
}

class Writer {
public:
  explicit Writer(std::string_view graph) {
    while (!graph.empty()) {
      const std::size_t end = std::min(graph.find('\n'), graph.size());
      const std::string_view text = graph.substr(0, end);
      graph.remove_prefix(std::min(end + 1, graph.size()));
      if (text.starts_with("# region "))
        regions_.push_back(text);
      else if (const Line line = read_line(text); !line.op.empty()) {
        lines_.push_back(line);
        nodes_.emplace(line.name, line);
      }
    }
  }

  Words words(std::size_t most) {
    for (const std::string_view region : regions_)
      write_region(region);
    for (const Line &line : lines_)
      if (line.op != "input" && line.op != "parameter")
        write_node(line);
    words_.resize(std::min(words_.size(), most));
    return std::move(words_);
  }

private:
  void put(const Words &more) { words_.insert(words_.end(), more.begin(), more.end()); }
  void put_type(const Line &line) {
    if (line.dtype != "f32")
      words_.push_back(line.dtype);
    put(line.shape);
  }

  /// Writes the words of a line such as "# region 0: 2 of %conv".
  void write_region(std::string_view text) {
    const auto node = nodes_.find(std::string(text.substr(std::min(text.find('%'), text.size()))));
    if (node == nodes_.end())
      return;
    const std::size_t colon = text.find(": ");
    words_.push_back("region=" + std::string(text.substr(9, colon - 9)));
    const std::string_view count = text.substr(colon + 2, text.find(" of ") - colon - 2);
    if (count != "1")
      words_.push_back(size_of(count));
    words_.push_back("op:" + node->second.op);
    put_type(node->second);
    put(node->second.attributes);
  }

  void write_node(const Line &line) {
    words_.push_back(variable(line.name));
    words_.push_back("op:" + line.op);
    for (const std::string &operand : line.operands)
      words_.push_back(variable(operand));
    const auto first = line.operands.empty() ? nodes_.end() : nodes_.find(line.operands.front());
    if (first == nodes_.end() || first->second.shape != line.shape ||
        first->second.dtype != line.dtype)
      put_type(line);
    put(line.attributes);
  }

  std::string variable(const std::string &name) {
    const auto [place, is_new] = variables_.emplace(name, variables_.size() % Vocabulary::kVariables);
    return "v" + std::to_string(place->second);
  }

  std::vector<std::string_view> regions_;
  std::vector<Line> lines_;
  std::map<std::string, Line> nodes_;
  std::map<std::string, std::size_t> variables_;
  Words words_;
};

} // namespace

std::vector<std::string> graph_words(std::string_view graph, std::size_t most) {
  return Writer(graph).words(most);
}

} // namespace warpwright::trainer
