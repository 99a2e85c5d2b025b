// Analysis of the values that each pass needs; see row_passes.h.
#include "generator/families/rows/row_passes.h"

#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"

#include <algorithm>
#include <set>

namespace warpwright::families::rows {
namespace {

using Kind = RowValue::Kind;

class Planner {
public:
  Planner(const RowProgram &program, const ops::GraphIndex &graph, bool hold)
      : program_(program), graph_(graph), hold_(hold),
        inputs_(program.expanded.region.inputs.begin(), program.expanded.region.inputs.end()) {}

  RowPasses run() {
    RowPasses result;
    result.passes.resize(static_cast<std::size_t>(program_.passes));
    for (std::size_t i = 0; i < program_.reductions.size(); ++i)
      pass_of(result, program_.reductions[i].pass).reductions.push_back(i);
    for (std::size_t i = 0; i < program_.outputs.size(); ++i)
      if (program_.outputs[i].value.kind == Kind::Element)
        pass_of(result, program_.outputs[i].value.pass).outputs.push_back(i);
    // Passes are planned from last to first, because later passes decide what a pass must hold.
    for (int pass = program_.passes - 1; pass >= 0; --pass)
      plan(result, pass);
    result.held.assign(held_.begin(), held_.end());
    find_row_values(result);
    return result;
  }

private:
  static RowPass &pass_of(RowPasses &passes, int pass) {
    return passes.passes[static_cast<std::size_t>(pass)];
  }
  int made_in(const std::string &name) const {
    const RowValue &value = program_.values.at(name);
    return value.kind == Kind::Free ? 0 : value.pass;
  }
  /// True if the value has one element for each element of the domain, in the domain's order.
  bool has_domain_size(const std::string &name) const {
    return program_.values.at(name).kind != Kind::Row &&
           model::elements_of(graph_.node(name).type().shape) == program_.elements();
  }
  bool keeps_order(const model::Node &node) const {
    return has_domain_size(node.name) &&
           (ops::is_pointwise(node) || node.op == op::reshape || node.op == op::expand);
  }
  bool is_leaf(const std::string &name) const {
    return inputs_.contains(name) && has_domain_size(name) &&
           !program_.expanded.region.strides.contains(name);
  }

  void plan(RowPasses &result, int pass) {
    RowPass &plan = pass_of(result, pass);
    std::vector<std::string> roots;
    for (const std::size_t i : plan.reductions)
      roots.push_back(program_.reductions[i].operand);
    for (const std::size_t i : plan.outputs)
      roots.push_back(program_.outputs[i].node);
    for (const std::string &name : held_)
      if (made_in(name) == pass) {
        roots.push_back(name);
        if (!is_leaf(name))
          plan.produced.push_back(name);
      }
    elsewhere_.clear();
    std::set<std::string> seen;
    for (const std::string &root : roots)
      find_elsewhere(root, has_domain_size(root), seen);
    seen.clear();
    for (const std::string &root : roots)
      visit(root, pass, plan, seen);
  }

  /// Collects the values that are read at indices other than the element's own.
  void find_elsewhere(const std::string &name, bool in_order, std::set<std::string> &seen) {
    if (program_.values.at(name).kind == Kind::Row)
      return;
    if (!in_order)
      elsewhere_.insert(name);
    if (!seen.insert(name + (in_order ? "+" : "-")).second || inputs_.contains(name))
      return;
    const model::Node &node = graph_.node(name);
    for (const std::string &input : node.inputs)
      find_elsewhere(input, in_order && keeps_order(node) && has_domain_size(input), seen);
  }

  void visit(const std::string &name, int pass, RowPass &plan, std::set<std::string> &seen) {
    if (program_.values.at(name).kind == Kind::Row || !seen.insert(name).second)
      return;
    const bool in_order = has_domain_size(name) && !elsewhere_.contains(name);
    if (in_order && hold_ && made_in(name) < pass && (is_leaf(name) || !inputs_.contains(name))) {
      held_.insert(name);
      plan.reused.push_back(name);
      return;
    }
    if (inputs_.contains(name)) {
      if (in_order && is_leaf(name))
        plan.leaves.push_back(name);
      return;
    }
    for (const std::string &input : graph_.node(name).inputs)
      visit(input, pass, plan, seen);
  }

  void find_row_values(RowPasses &result) const {
    std::set<std::string> reductions;
    for (const RowReduction &reduction : program_.reductions)
      reductions.insert(reduction.node);
    for (const std::string &name : program_.expanded.region.nodes) {
      if (program_.values.at(name).kind != Kind::Row || reductions.contains(name))
        continue;
      const bool goes_out =
          std::ranges::any_of(program_.outputs, [&](const auto &o) { return o.node == name; });
      const auto &users = graph_.users(name);
      const bool meets_elements = std::ranges::any_of(users, [&](const model::Node *user) {
        return program_.values.at(user->name).kind != Kind::Row || reductions.contains(user->name);
      });
      if (goes_out || meets_elements)
        result.row_values.push_back(name);
    }
  }

  const RowProgram &program_;
  const ops::GraphIndex &graph_;
  bool hold_;
  std::set<std::string> inputs_;
  std::set<std::string> held_, elsewhere_;
};

} // namespace

RowPasses plan_passes(const RowProgram &program, const ops::GraphIndex &graph, bool hold) {
  return Planner(program, graph, hold).run();
}

} // namespace warpwright::families::rows
