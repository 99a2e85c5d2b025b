// Reading the examples and walking their states; see example_states.h.
#include "tests/generator/example_states.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace warpwright::test {

std::vector<Example> all_examples() {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(WARPWRIGHT_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".cu")
      files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Example> examples;
  for (const auto &path : files) {
    std::ifstream input(path, std::ios::binary);
    const analysis::SourceFile file{path.string(),
                                    std::string(std::istreambuf_iterator<char>(input), {})};
    for (const analysis::Kernel &kernel :
         analysis::analyze(file, {}, {.tasks = true, .rules = false}).kernels)
      if (kernel.task.inferred)
        examples.push_back({source::State{file, {}, kernel.name, {}}, kernel.task.task});
  }
  REQUIRE(examples.size() >= 8);
  return examples;
}

void for_each_state(const Example &example, bool pairs,
                    const std::function<void(const source::State &)> &visit) {
  std::set<std::string> seen{example.state.file.text};
  for (const source::Move &move : states::legal_moves(example.state)) {
    auto one = states::apply_move(example.state, move);
    REQUIRE_MESSAGE(one, (one ? "" : describe(one.error())));
    if (!seen.insert(one->file.text).second)
      continue;
    visit(*one);
    if (!pairs)
      continue;
    std::set<std::string> names;
    for (const source::Move &next : states::legal_moves(*one)) {
      if (!names.insert(next.name).second)
        continue;
      auto two = states::apply_move(*one, next);
      REQUIRE_MESSAGE(two, (two ? "" : describe(two.error())));
      if (seen.insert(two->file.text).second)
        visit(*two);
    }
  }
}

std::string moves_text(const source::State &state) {
  std::string text = state.kernel + ":";
  for (const source::Move &move : state.moves)
    text += " " + to_string(move);
  return text;
}

} // namespace warpwright::test
