// Applying one move to a marked source; see check_move.h.
#include "tests/generator/check_move.h"

#include "generator/text/states/generator.h"

#include <cctype>

namespace warpwright::test {

source::State state_of(std::string marked) {
  const std::size_t mark = marked.find('^');
  REQUIRE(mark != std::string::npos);
  marked.erase(mark, 1);
  std::size_t end = mark;
  while (end < marked.size() &&
         (std::isalnum(static_cast<unsigned char>(marked[end])) || marked[end] == '_'))
    ++end;
  source::State state;
  state.kernel = marked.substr(mark, end - mark);
  state.file = {"snippet.cu", std::move(marked)};
  return state;
}

std::string parse_errors(const source::State &state) {
  auto unit = analysis::parse_stub(state.file, state.settings);
  if (!unit)
    return describe(unit.error());
  std::string errors;
  for (const analysis::Diagnostic &diagnostic : (*unit)->syntax_diagnostics())
    if (diagnostic.severity == analysis::Severity::Error)
      errors += std::to_string(diagnostic.line) + ": " + diagnostic.message + "\n";
  return errors;
}

void check_move(const std::string &marked, const std::string &move, const std::string &expected) {
  const source::State before = state_of(marked);
  CHECK(parse_errors(before) == "");
  auto parsed = source::move_from_string(move);
  REQUIRE(parsed);
  auto after = states::apply_move(before, *parsed);
  REQUIRE_MESSAGE(after, (after ? "" : describe(after.error())));
  CHECK(after->file.text == expected);
  CHECK(parse_errors(*after) == "");
  CHECK(after->moves == std::vector<source::Move>{*parsed});
}

void check_parses(const std::string &marked, const std::string &move) {
  auto parsed = source::move_from_string(move);
  REQUIRE(parsed);
  auto after = states::apply_move(state_of(marked), *parsed);
  REQUIRE_MESSAGE(after, (after ? "" : describe(after.error())));
  CHECK(parse_errors(*after) == "");
}

void check_refused(const std::string &marked, const std::string &move, const std::string &reason) {
  const source::State state = state_of(marked);
  auto parsed = source::move_from_string(move);
  REQUIRE(parsed);
  auto after = states::apply_move(state, *parsed);
  REQUIRE_FALSE(after);
  CHECK(after.error().message == move + " is not legal for " + state.kernel + ": " + reason);
}

} // namespace warpwright::test
