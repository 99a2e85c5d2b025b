// Classification of a region's values; see row_program.h.
#include "generator/families/rows/row_program.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"

#include <algorithm>
#include <set>
#include <utility>

namespace warpwright::families::rows {
namespace {

using model::Node;
using model::Shape;

/// Reduction kind of an operator; None for operators that do not reduce.
ops::Reduction reduction_kind(std::string_view name) {
  const ops::Op *op = ops::find_op(name);
  return op ? op->reduction : ops::Reduction::None;
}

/// Groups of a shape's dimensions if `dims` are reduced. Extents of 1 belong to any group.
std::vector<RowGroup> groups_of(const Shape &shape, const Shape &dims) {
  std::vector<RowGroup> groups;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool reduced = std::ranges::find(dims, static_cast<std::int64_t>(i)) != dims.end();
    if (shape[i] == 1)
      continue;
    if (!groups.empty() && groups.back().reduced == reduced)
      groups.back().size *= shape[i];
    else
      groups.push_back({shape[i], reduced});
  }
  if (std::ranges::none_of(groups, &RowGroup::reduced))
    groups.push_back({1, true});
  return groups;
}

class Classifier {
public:
  Classifier(const ops::GraphIndex &graph, RowProgram &program, const RowProgramOptions &options)
      : graph_(graph), program_(program), options_(options) {}

  Result<void> run() {
    for (const std::string &name : program_.expanded.region.inputs)
      program_.values[name] = {};
    for (const std::string &name : program_.expanded.region.nodes) {
      const auto value = classify(graph_.node(name));
      if (!value)
        return std::unexpected(value.error());
      program_.values[name] = *value;
    }
    if (program_.reductions.empty())
      return fail("the region of " + program_.expanded.region.anchor + " reduces nothing");
    return classify_outputs();
  }

private:
  Result<RowValue> classify(const Node &node) {
    if (const ops::Reduction kind = reduction_kind(node.op); kind != ops::Reduction::None)
      return classify_reduction(node, kind);
    int pass = 0;
    bool any_element = false, any_row = false;
    for (const std::string &input : node.inputs) {
      const RowValue &value = program_.values.at(input);
      pass = std::max(pass, value.pass);
      any_element |= value.kind == RowValue::Kind::Element;
      any_row |= value.kind == RowValue::Kind::Row;
    }
    if (!any_element && !any_row) {
      if (!ops::is_inline(node))
        return refuse(node, "is neither pointwise nor a view");
      return RowValue{};
    }
    if (node.op == op::gather)
      return classify_gather(node, pass);
    if (!ops::is_pointwise(node) && node.op != op::reshape && node.op != op::expand)
      return refuse(node, "changes the order of what was reduced");
    const std::int64_t size = model::elements_of(node.type().shape);
    // If rows have one element, row values are element values, which may be reduced again.
    const bool is_row = !any_element && size == program_.rows && program_.row_length > 1;
    if (!is_row && size != program_.elements())
      return refuse(node, "has neither the elements nor the rows of the reductions");
    for (const std::string &input : node.inputs)
      if (!broadcasts(node, input, is_row))
        return refuse(node, "mixes rows");
    return RowValue{is_row ? RowValue::Kind::Row : RowValue::Kind::Element, pass};
  }

  Result<RowValue> classify_reduction(const Node &node, ops::Reduction kind) {
    const std::string &operand = node.inputs.at(0);
    const Shape &shape = graph_.node(operand).type().shape;
    if (model::elements_of(shape) == 0)
      return refuse(node, "reduces nothing");
    const Shape dims = ops::reduced_dims(node, shape.size());
    const std::vector<RowGroup> groups = groups_of(shape, dims);
    if (program_.reductions.empty()) {
      program_.groups = groups;
      for (const RowGroup &group : groups)
        (group.reduced ? program_.row_length : program_.rows) *= group.size;
    }
    const RowValue &value = program_.values.at(operand);
    if (groups != program_.groups || value.kind == RowValue::Kind::Row)
      return refuse(node, "reduces other elements than the first reduction");
    RowReduction reduction{kind, node.name, operand, value.pass,
                           ops::number_attribute(node, "correction", 1)};
    if (options_.online_softmax && kind == ops::Reduction::Sum)
      make_online(reduction);
    program_.reductions.push_back(reduction);
    program_.passes = std::max(program_.passes, reduction.pass + 1);
    return RowValue{RowValue::Kind::Row, reduction.pass + 1};
  }

  /// Moves sum(exp(x - amax(x))), or the shifted form of logsumexp, into the pass of its maximum.
  void make_online(RowReduction &reduction) {
    const Node &exponential = graph_.node(reduction.operand);
    if (exponential.op != op::exp)
      return;
    const Node &difference = graph_.node(exponential.inputs[0]);
    if (difference.op != op::sub)
      return;
    const Node *shift = &graph_.node(difference.inputs[1]);
    const bool guarded = shift->op == op::where;
    if (guarded)
      shift = &graph_.node(shift->inputs[2]);
    while (shift->op == op::reshape || shift->op == op::expand)
      shift = &graph_.node(shift->inputs[0]);
    const auto maximum = std::ranges::find(program_.reductions, shift->name, &RowReduction::node);
    if (maximum == program_.reductions.end() || maximum->kind != ops::Reduction::Maximum ||
        maximum->operand != difference.inputs[0])
      return;
    reduction.guarded = guarded;
    reduction.operand = maximum->operand;
    reduction.maximum = maximum->node;
    reduction.pass = maximum->pass;
  }

  /// Classifies a gather of one element per row, such as log_softmax(x)[i, target[i]].
  Result<RowValue> classify_gather(const Node &node, int pass) {
    const Shape &source = graph_.node(node.inputs[0]).type().shape;
    const auto dim = static_cast<std::size_t>(ops::integer_attribute(node, "dim"));
    const Shape &shape = node.type().shape;
    if (program_.values.at(node.inputs[0]).kind != RowValue::Kind::Element ||
        program_.values.at(node.inputs[1]).kind != RowValue::Kind::Free)
      return refuse(node, "gathers from rows");
    if (groups_of(source, {static_cast<std::int64_t>(dim)}) != program_.groups)
      return refuse(node, "gathers along another dimension than is reduced");
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != (i == dim ? 1 : source[i]))
        return refuse(node, "gathers more than one element a row");
    return RowValue{RowValue::Kind::Row, pass};
  }

  /// True if each element of `node` reads the operand's element of the same row.
  bool broadcasts(const Node &node, const std::string &input, bool is_row) const {
    const RowValue &value = program_.values.at(input);
    if (value.kind == RowValue::Kind::Free)
      return true;
    const Shape &to = node.type().shape, &from = graph_.node(input).type().shape;
    const std::int64_t size = model::elements_of(from);
    if (is_row || value.kind == RowValue::Kind::Element)
      return size == model::elements_of(to) && (node.op == op::reshape || same_order(from, to));
    if (node.op == op::reshape)
      return size == model::elements_of(to);
    return from.size() <= to.size() && follows_rows(from, to);
  }

  /// True if both shapes are equal apart from extents of 1.
  static bool same_order(const Shape &a, const Shape &b) {
    Shape left, right;
    std::ranges::copy_if(a, std::back_inserter(left), [](auto extent) { return extent != 1; });
    std::ranges::copy_if(b, std::back_inserter(right), [](auto extent) { return extent != 1; });
    return left == right;
  }

  /// True if the row value `from` has the extents of `to` in kept dimensions and 1 in reduced ones.
  bool follows_rows(const Shape &from, const Shape &to) const {
    std::size_t group = 0;
    std::int64_t left = program_.groups[0].size;
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (to[i] == 1)
        continue;
      while (left == 1 && group + 1 < program_.groups.size())
        left = program_.groups[++group].size;
      if (left % to[i] != 0)
        return false;
      left /= to[i];
      const std::size_t skipped = to.size() - from.size();
      const std::int64_t extent = i < skipped ? 1 : from[i - skipped];
      if (extent != (program_.groups[group].reduced ? 1 : to[i]))
        return false;
    }
    return true;
  }

  Result<void> classify_outputs() {
    const auto &outputs = program_.expanded.region.outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      RowValue value = program_.values.at(outputs[i]);
      const Node &node = graph_.node(outputs[i]);
      if (value.kind == RowValue::Kind::Free) {
        if (model::elements_of(node.type().shape) != program_.elements())
          return fail(outputs[i] + " has not the elements of the rows that it goes out with");
        value.kind = RowValue::Kind::Element;
      }
      if (value.kind == RowValue::Kind::Element)
        program_.passes = std::max(program_.passes, value.pass + 1);
      program_.outputs.push_back({i, outputs[i], value});
    }
    return {};
  }

  static std::unexpected<Error> refuse(const Node &node, const std::string &why) {
    return fail(node.op + " " + node.name + " " + why);
  }

  const ops::GraphIndex &graph_;
  RowProgram &program_;
  const RowProgramOptions &options_;
};

} // namespace

bool is_plain_reduction(const std::string &op) {
  return reduction_kind(op) != ops::Reduction::None;
}

Result<RowProgram> make_row_program(const ops::GraphIndex &graph, const elements::Region &region,
                                    const RowProgramOptions &options) {
  auto expanded = expand_region(graph, region);
  if (!expanded)
    return std::unexpected(expanded.error());
  RowProgram program;
  program.expanded = std::move(*expanded);
  const ops::GraphIndex index(program.expanded.graph);
  if (auto done = Classifier(index, program, options).run(); !done)
    return std::unexpected(done.error());
  return program;
}

} // namespace warpwright::families::rows
