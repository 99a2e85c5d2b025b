// warpwright-rewrites GRAPH.json...: which rewrites fire on dumped op graphs, what they save, which outputs no input decides. For developers;
// not installed.
//
// One line a graph that is changed by more than clean-up: operations before and after, bytes that nodes read and write, the rules. With
// one graph the choices that are left are listed too; --out writes the simplified graph. Thread: one.
#include "generator/ops/read_graph.h"
#include "generator/ops/cost.h"
#include "generator/rewrites/graph_facts.h"
#include "generator/rewrites/rewrite.h"
#include "support/model/graph_json.h"

#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>

using namespace warpwright;
using namespace warpwright::ops;
using namespace warpwright::rewrites;

namespace {

/// "view-chain 3, matmul-order 1"
std::string counted(const std::vector<std::string> &applied) {
  std::map<std::string, int> counts;
  for (const std::string &text : applied)
    ++counts[text.substr(0, text.find('('))];
  std::string words;
  for (const auto &[rule, count] : counts)
    words += (words.empty() ? "" : ", ") + rule + " " + std::to_string(count);
  return words;
}

void print_degenerate(const std::string &path, const model::Graph &graph) {
  for (const DegenerateOutput &output : degenerate_outputs(graph)) {
    std::cout << path << ": degenerate: " << output.output;
    if (output.constant)
      std::cout << " is " << *output.constant << " everywhere\n";
    else
      std::cout << " does not depend on the inputs\n";
  }
}

bool report(const std::string &path, bool alone, const std::string &out) {
  const auto graph = read_graph(path);
  if (!graph) {
    std::cout << path << ": " << describe(graph.error()) << "\n";
    return false;
  }
  const Simplified simplified = simplify(*graph);
  const Cost before = cost_of(*graph), after = cost_of(simplified.graph);
  std::cout << path << ": " << std::setprecision(3) << before.flops / 1e9 << " -> "
            << after.flops / 1e9 << " Gflop, " << before.bytes / 1e6 << " -> " << after.bytes / 1e6
            << " MB; " << counted(simplified.applied) << "\n";
  print_degenerate(path, *graph);
  if (alone) {
    for (const std::string &applied : simplified.applied)
      std::cout << "  applied " << applied << "\n";
    for (const Rewrite &choice : warpwright::rewrites::rewrites(GraphIndex(simplified.graph)))
      if (const auto chosen = apply(simplified.graph, choice))
        std::cout << "  choice " << choice.rule << "(%" << choice.node
                  << "): " << cost_of(*chosen).flops / 1e9 << " Gflop, "
                  << cost_of(*chosen).bytes / 1e6 << " MB\n";
  }
  if (!out.empty())
    std::ofstream(out) << model::to_json(simplified.graph).dump(1) << "\n";
  return true;
}

} // namespace

int main(int argc, char **argv) {
  std::string out;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--out") == 0 && i + 1 < argc)
      out = argv[++i];
    else
      paths.emplace_back(argv[i]);
  if (paths.empty()) {
    std::cerr << "usage: warpwright-rewrites [--out GRAPH.json] GRAPH.json...\n";
    return 2;
  }
  bool all = true;
  for (const std::string &path : paths)
    all = report(path, paths.size() == 1, out) && all;
  return all ? 0 : 1;
}
