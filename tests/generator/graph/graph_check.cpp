// Verifies graphs in JSON files, as the tracer writes them, and reads their text form back: for traces of real modules.
//
//   graph_check FILES      prints what is wrong with which, exit 1 if anything is
#include "generator/ops/read_graph.h"
#include "generator/ops/text.h"

#include <iostream>

namespace {

using namespace warpwright;

Result<void> check(const std::string &path) {
  const auto graph = ops::read_graph(path);
  if (!graph)
    return std::unexpected(graph.error());
  const auto again = ops::parse_graph(ops::print_graph(*graph));
  if (!again)
    return std::unexpected(again.error());
  if (!(*again == *graph))
    return fail("its text form reads back as another graph");
  return {};
}

} // namespace

int main(int count, char **arguments) {
  int wrong = 0;
  for (int i = 1; i < count; ++i)
    if (auto checked = check(arguments[i]); !checked) {
      std::cerr << arguments[i] << ": " << describe(checked.error()) << "\n";
      ++wrong;
    }
  std::cout << count - 1 - wrong << " of " << count - 1 << " graphs are well formed\n";
  return wrong ? 1 : 0;
}
