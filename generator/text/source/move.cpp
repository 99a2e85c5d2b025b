// Text form of moves: "vectorize(width=4)", "restrict_const()", with parameters in the order of
// their names.
#include "generator/text/source/state.h"

#include "generator/text/source/render.h"

namespace warpwright::source {

std::string to_string(const Move &move) {
  std::string text = move.name + "(";
  for (const auto &[name, value] : move.parameters)
    text += (text.back() == '(' ? "" : ",") + name + "=" + value;
  return text + ")";
}

std::vector<std::string> to_strings(const std::vector<Move> &moves) {
  std::vector<std::string> texts;
  for (const Move &move : moves)
    texts.push_back(to_string(move));
  return texts;
}

Result<Move> move_from_string(const std::string &text) {
  const auto bad = [&](const std::string &why) {
    return fail("\"" + text + "\" is no move: " + why, "Write it as name(parameter=value,...)");
  };
  const std::string_view all = trimmed(text);
  const std::size_t open = all.find('(');
  Move move;
  move.name = std::string(trimmed(all.substr(0, open)));
  if (!is_identifier(move.name))
    return bad("it does not start with a name");
  if (open == std::string_view::npos)
    return move;
  if (all.back() != ')')
    return bad("the parenthesis is not closed");
  std::string_view rest = all.substr(open + 1, all.size() - open - 2);
  while (!trimmed(rest).empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return bad("a parameter has no value");
    const std::string name(trimmed(part.substr(0, equals))),
        value(trimmed(part.substr(equals + 1)));
    if (!is_identifier(name) || value.empty() || value.find_first_of("()= ") != std::string::npos)
      return bad("a parameter is malformed");
    if (!move.parameters.emplace(name, value).second)
      return bad("parameter " + name + " occurs twice");
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return move;
}

} // namespace warpwright::source
