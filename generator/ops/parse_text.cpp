// Reads the text form of op graphs, line by line, with a cursor over the line.
#include "generator/ops/text.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <nlohmann/json.hpp>

namespace warpwright::ops {
namespace {

/// A position in one line. After the first mismatch nothing is left of the line, and everything read is a default.
class Cursor {
public:
  explicit Cursor(std::string_view line) : rest_(line) { skip(); }

  bool done() const { return rest_.empty(); }
  /// Returns what the line should have held; empty while nothing has failed.
  const std::string &expected() const { return expected_; }
  void expect(std::string what) {
    if (expected_.empty())
      expected_ = std::move(what);
    rest_ = {};
  }
  bool at(std::string_view text) const { return rest_.starts_with(text); }

  bool take(std::string_view text) {
    if (!at(text))
      return false;
    rest_.remove_prefix(text.size());
    skip();
    return true;
  }

  void need(std::string_view text) {
    if (!take(text))
      expect("'" + std::string(text) + "'");
  }
  /// Returns true at the end of a list, and after a mismatch, so that loops end.
  bool closes(std::string_view text) { return !expected_.empty() || take(text); }

  /// Reads a run of letters, digits and '_'.
  std::string word(const char *what) {
    std::size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '_'))
      ++length;
    if (length == 0)
      expect(what);
    return consume(length);
  }

  std::string value_name() {
    need("%");
    return word("a value's name");
  }

  /// Reads a number: digits, sign, point, exponent, "inf" and "nan".
  std::string number() {
    std::size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '.' ||
            rest_[length] == '-' || rest_[length] == '+'))
      ++length;
    if (length == 0)
      expect("a number");
    return consume(length);
  }

  /// Reads a JSON string with its quotes.
  std::string quoted() {
    std::size_t length = 1;
    while (length < rest_.size() && rest_[length] != '"')
      length += rest_[length] == '\\' ? 2 : 1;
    if (length >= rest_.size()) {
      expect("a closing quote");
      return {};
    }
    return consume(length + 1);
  }

private:
  std::string consume(std::size_t length) {
    std::string text(rest_.substr(0, length));
    rest_.remove_prefix(length);
    skip();
    return text;
  }
  void skip() {
    while (!rest_.empty() &&
           (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }
  std::string_view rest_;
  std::string expected_;
};

std::int64_t integer(Cursor &cursor, const std::string &text) {
  char *end = nullptr;
  const std::int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (*end != '\0')
    cursor.expect("an integer, not '" + text + "'");
  return value;
}

model::Shape parse_list(Cursor &cursor) {
  model::Shape list;
  cursor.need("[");
  while (!cursor.closes("]")) {
    if (!list.empty())
      cursor.need(",");
    list.push_back(integer(cursor, cursor.number()));
  }
  return list;
}

model::Dtype parse_dtype(Cursor &cursor) {
  const std::string text = cursor.word("a dtype");
  for (const auto &[brief, full] :
       {std::pair{"bf", "bfloat"}, {"f", "float"}, {"u", "uint"}, {"i", "int"}, {"bool", "bool"}})
    if (text.starts_with(brief))
      if (const auto dtype =
              model::dtype_from_name(full + text.substr(std::string_view(brief).size())))
        return *dtype;
  cursor.expect("a dtype, not '" + text + "'");
  return model::Dtype::Float32;
}

model::TensorType parse_type(Cursor &cursor) {
  model::TensorType type{parse_dtype(cursor), {}, {}};
  type.shape = parse_list(cursor);
  if (cursor.take("@"))
    type.strides = parse_list(cursor);
  return type;
}

std::vector<model::TensorType> parse_types(Cursor &cursor) {
  if (!cursor.take("("))
    return {parse_type(cursor)};
  std::vector<model::TensorType> types;
  while (!cursor.closes(")")) {
    if (!types.empty())
      cursor.need(",");
    types.push_back(parse_type(cursor));
  }
  return types;
}

model::Attribute parse_number(Cursor &cursor) {
  const std::string text = cursor.number();
  if (text == "true" || text == "false")
    return text == "true";
  if (text.find_first_of(".einf") == std::string::npos)
    return integer(cursor, text);
  char *end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0')
    cursor.expect("a number, not '" + text + "'");
  return value;
}

model::Attribute parse_attribute(Cursor &cursor) {
  if (cursor.at("["))
    return parse_list(cursor);
  if (cursor.at("\"")) {
    const auto text = nlohmann::json::parse(cursor.quoted(), nullptr, false);
    if (!text.is_string())
      cursor.expect("a text");
    return text.is_string() ? text.get<std::string>() : std::string();
  }
  return parse_number(cursor);
}

model::Attributes parse_attributes(Cursor &cursor) {
  model::Attributes attributes;
  if (!cursor.take("{"))
    return attributes;
  while (!cursor.closes("}")) {
    if (!attributes.empty())
      cursor.need(",");
    const std::string name = cursor.word("an attribute's name");
    cursor.need("=");
    attributes.insert_or_assign(name, parse_attribute(cursor));
  }
  return attributes;
}

std::vector<std::string> parse_names(Cursor &cursor) {
  std::vector<std::string> names{cursor.value_name()};
  while (cursor.take(","))
    names.push_back(cursor.value_name());
  return names;
}

model::Node parse_node(Cursor &cursor) {
  model::Node node;
  node.name = cursor.value_name();
  cursor.need(":");
  node.types = parse_types(cursor);
  cursor.need("=");
  node.op = cursor.word("an op");
  if (cursor.take("(")) {
    node.inputs = parse_names(cursor);
    cursor.need(")");
  }
  node.attributes = parse_attributes(cursor);
  return node;
}

void parse_line(Cursor &cursor, model::Graph &graph) {
  if (cursor.at("%")) {
    graph.nodes.push_back(parse_node(cursor));
  } else if (cursor.take("update")) {
    model::Update update{cursor.value_name(), {}};
    cursor.need("=");
    update.value = cursor.value_name();
    graph.updates.push_back(std::move(update));
  } else if (cursor.take("return")) {
    if (!cursor.done())
      graph.outputs = parse_names(cursor);
  } else {
    cursor.expect("a node, an update or the return");
  }
  if (!cursor.done())
    cursor.expect("the end of the line");
}

} // namespace

Result<model::Graph> parse_graph(std::string_view text) {
  model::Graph graph;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Cursor cursor(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (cursor.done() || cursor.at("#"))
      continue;
    parse_line(cursor, graph);
    if (!cursor.expected().empty())
      return fail("line " + std::to_string(number) + " of the graph: expected " +
                  cursor.expected());
  }
  return graph;
}

} // namespace warpwright::ops
