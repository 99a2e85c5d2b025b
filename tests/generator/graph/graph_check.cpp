// Verifies graphs in JSON files, as the tracer writes them, and reads their text form back: for traces of real modules.
//
//   graph_check FILES      prints what is wrong with which, exit 1 if anything is
#include "generator/graph/text.h"
#include "generator/graph/verify_graph.h"
#include "support/model/graph_json.h"

#include <fstream>
#include <iostream>

namespace {

using namespace warpwright;

Result<void> check(const std::string &path) {
  std::ifstream file(path);
  const auto document = nlohmann::json::parse(file, nullptr, false);
  if (document.is_discarded())
    return fail("it is no JSON");
  const auto graph =
      model::graph_from_json(document.contains("graph") ? document["graph"] : document);
  if (!graph)
    return std::unexpected(graph.error());
  if (auto verified = generator::verify_graph(*graph); !verified)
    return verified;
  const auto again = generator::parse_graph(generator::print_graph(*graph));
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
